"""The limits that all members of a campaign share, in Postgres: a pot for each, and slots that are filled up from it.

A process takes from its own slot, which nobody else locks. `fill` moves a part of what is left into it. When nothing is
left, a batch locks the pot and every slot, so that the last is given out exactly.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from abacus.engage.campaigns.decide.budget import Pot
from abacus.engage.campaigns.decide.limits import NOTHING, Amounts, Bound
from abacus.engage.campaigns.decide.run import Outcome
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.sql import Statement, arrays, columns, unnested

_SHARE: Final = 32  # the part of what is left that a slot is filled up with


class Limited(NamedTuple):
    """A limit, and the version of the campaign that sets it."""

    bound: Bound
    version: int


class _PotRow(NamedTuple):
    """A row of `campaign_pot`: what was handed out."""

    campaign: str
    period: str
    runs: int
    points: int
    cost: int


class _SlotRow(NamedTuple):
    """A row of `campaign_slot`: what is left of what was handed out; less than nothing of what is not limited."""

    campaign: str
    period: str
    slot: int
    version: int
    runs: int
    points: int
    cost: int


class Locked(NamedTuple):
    """What is at hand of each pot, and the rows that hold it."""

    left: Mapping[Pot, Amounts]
    handed_out: Mapping[Pot, Amounts]
    slots: Mapping[tuple[Pot, int], _SlotRow]


# What was done before there was such a limit counts too.
_OPEN_POTS: Final = Statement(f"""
insert into campaign_pot ({columns(_PotRow)})
select u.*, coalesce(s.runs, 0), coalesce(s.points, 0), coalesce(s.cost, 0)
from {unnested(Pot)}
left join lateral (
    select sum(s.events)::bigint as runs, sum(s.points)::bigint as points, sum(s.cost)::bigint as cost
    from campaign_sum s
    where s.campaign = u.campaign and s.outcome = '{Outcome.DONE}' and u.period in ('', s.day::text)
) s on not exists (select from campaign_pot p where p.campaign = u.campaign and p.period = u.period)
order by u.campaign, u.period
on conflict do nothing
""")
_LOCK_POTS: Final = Statement(f"""
select {columns(_PotRow, "p")} from {unnested(Pot)}
join campaign_pot p on p.campaign = u.campaign and p.period = u.period
order by u.campaign, u.period for update of p
""")
_LEFT: Final = Statement(f"""
select u.campaign, u.period, coalesce(p.runs, 0) - coalesce(s.runs, 0) as runs,
    coalesce(p.points, 0) - coalesce(s.points, 0) as points, coalesce(p.cost, 0) - coalesce(s.cost, 0) as cost
from {unnested(Pot)}
left join campaign_pot p on p.campaign = u.campaign and p.period = u.period
left join lateral (
    select sum(s.runs)::bigint as runs, sum(s.points)::bigint as points, sum(s.cost)::bigint as cost
    from campaign_slot s where s.campaign = u.campaign and s.period = u.period
) s on true
""")
_LOCK_SLOTS: Final = Statement(f"""
select {columns(_SlotRow, "s")}
from unnest(:campaign::text[], :period::text[], :whole::boolean[]) as u (campaign, period, whole)
join campaign_slot s on s.campaign = u.campaign and s.period = u.period and (u.whole or s.slot = :slot)
order by s.campaign, s.period, s.slot for update of s
""")
_SET_POTS: Final = Statement(f"""
update campaign_pot p set runs = u.runs, points = u.points, cost = u.cost
from {unnested(_PotRow)} where p.campaign = u.campaign and p.period = u.period
""")
_SET_SLOTS: Final = Statement(f"""
insert into campaign_slot ({columns(_SlotRow)}) select u.* from {unnested(_SlotRow)}
order by u.campaign, u.period, u.slot
on conflict (campaign, period, slot) do update set
    version = excluded.version, runs = excluded.runs, points = excluded.points, cost = excluded.cost
""")


class PotStore:
    """The pots, as a process takes from them that has this slot."""

    def __init__(self, pool: Pool, slot: int) -> None:
        self._pool = pool
        self._slot = slot

    async def fill(self, needs: Mapping[Pot, Amounts], limited: Mapping[Pot, Limited]) -> set[Pot]:
        """Fills the slot up from all of these pots at once, and says from which not, because too little is left of
        them. Raises `Unavailable`.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            wanted = sorted(needs)
            handed_out = await _lock_pots(connection, wanted)
            slots = await self._lock_slots(connection, wanted, ())
            short, pots, filled = set[Pot](), list[_PotRow](), list[_SlotRow]()
            for pot in wanted:
                row, needed = slots.get((pot, self._slot)), needs[pot]
                others = handed_out[pot].minus(_held(row)) if row is not None else handed_out[pot]
                left = _left(limited[pot].bound, others)
                if any(need > have for need, have in zip(needed, left, strict=True)):
                    short.add(pot)
                    continue
                given = Amounts(*(max(need, have // _SHARE) for need, have in zip(needed, left, strict=True)))
                pots.append(_PotRow(*pot, *others.plus(given)))
                filled.append(_SlotRow(*pot, self._slot, limited[pot].version, *given))
            await connection.execute(*_SET_POTS(**arrays(_PotRow, pots)))
            await connection.execute(*_SET_SLOTS(**arrays(_SlotRow, filled)))
            return short

    async def left(self, connection: Connection, limited: Mapping[Pot, Limited]) -> Mapping[Pot, Amounts]:
        """What is left of each pot altogether, as it is at the moment. Nothing is locked."""
        if not limited:
            return {}
        rows = [_PotRow(*row) for row in await connection.fetch(*_LEFT(**arrays(Pot, sorted(limited))))]
        return {
            (pot := Pot(row.campaign, row.period)): _left(limited[pot].bound, Amounts(row.runs, row.points, row.cost))
            for row in rows
        }

    async def lock(self, connection: Connection, limited: Mapping[Pot, Limited], whole: Collection[Pot]) -> Locked:
        """Locks the slots of this process, and of the pots in `whole` everything, and says what is left."""
        if not limited:
            return Locked({}, {}, {})
        pots = sorted(limited)
        handed_out = await _lock_pots(connection, [pot for pot in pots if pot in whole])
        slots = await self._lock_slots(connection, pots, whole)
        left: dict[Pot, Amounts] = {}
        for (pot, _), row in slots.items():
            if pot in handed_out:
                handed_out[pot] = handed_out[pot].minus(_held(row))
            elif row.version == limited[pot].version:
                left[pot] = _held(row)
        return Locked(
            left | {pot: _left(limited[pot].bound, out) for pot, out in handed_out.items()}, handed_out, slots
        )

    async def take(self, connection: Connection, locked: Locked, taken: Mapping[Pot, Amounts]) -> None:
        """Writes what is left after so much was taken. Slots of pots that are locked whole are empty then."""
        pots = [_PotRow(*pot, *out.plus(taken.get(pot, NOTHING))) for pot, out in locked.handed_out.items()]
        slots = []
        for (pot, _), row in locked.slots.items():
            if pot in locked.handed_out:
                slots.append(row._replace(runs=0, points=0, cost=0))
            elif pot in taken:
                slots.append(_SlotRow(*row[:4], *_held(row).minus(taken[pot])))
        if pots:
            await connection.execute(*_SET_POTS(**arrays(_PotRow, pots)))
        if slots:
            await connection.execute(*_SET_SLOTS(**arrays(_SlotRow, slots)))

    async def _lock_slots(
        self, connection: Connection, pots: Sequence[Pot], whole: Collection[Pot]
    ) -> Mapping[tuple[Pot, int], _SlotRow]:
        statement = _LOCK_SLOTS(**arrays(Pot, pots), whole=[pot in whole for pot in pots], slot=self._slot)
        rows = [_SlotRow(*row) for row in await connection.fetch(*statement)]
        return {(Pot(row.campaign, row.period), row.slot): row for row in rows}


async def _lock_pots(connection: Connection, pots: Sequence[Pot]) -> dict[Pot, Amounts]:
    """What was handed out of each."""
    if not pots:
        return {}
    await connection.execute(*_OPEN_POTS(**arrays(Pot, pots)))
    rows = [_PotRow(*row) for row in await connection.fetch(*_LOCK_POTS(**arrays(Pot, pots)))]
    return {Pot(row.campaign, row.period): Amounts(row.runs, row.points, row.cost) for row in rows}


def _held(row: _SlotRow) -> Amounts:
    return Amounts(row.runs, row.points, row.cost)


def _left(bound: Bound, handed_out: Amounts) -> Amounts:
    """What is left of a limit; nothing of what it does not limit, or where it was lowered below what is gone."""
    return Amounts(*(0 if most is None else max(0, most - out) for most, out in zip(bound, handed_out, strict=True)))
