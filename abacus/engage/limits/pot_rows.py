"""Rows of pots and slots: the statements that read, lock and write them, and what owners have used for reports."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from abacus.engage.limits.decide.pots import Pot
from abacus.engage.limits.types import NOTHING, Amounts
from abacus.platform import slices
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, columns, unnested


class PotRow(NamedTuple):
    """A row of `limit_pot`: what was handed out."""

    owner_kind: str
    owner: str
    period: str
    runs: int
    points: int
    cost: int


class SlotRow(NamedTuple):
    """A row of `limit_slot`: what is left of what was handed out; less than nothing of what is not limited."""

    owner_kind: str
    owner: str
    period: str
    slot: int
    version: int
    runs: int
    points: int
    cost: int


class WantedSlots(NamedTuple):
    """A pot whose slots are to be locked: all of them where it is wanted `whole`, else the one of this process."""

    owner_kind: str
    owner: str
    period: str
    whole: bool


READ_POTS: Final = Statement(f"""
select {columns(PotRow, "p")} from {unnested(Pot)}
join limit_pot p using (owner_kind, owner, period)
""")
OPEN_POTS: Final = Statement(f"""
insert into limit_pot ({columns(PotRow)}) select u.* from {unnested(PotRow)} order by u.owner_kind, u.owner, u.period
on conflict do nothing
""")
LOCK_POTS: Final = Statement(f"""
select {columns(PotRow, "p")} from {unnested(Pot)}
join limit_pot p using (owner_kind, owner, period)
order by u.owner_kind, u.owner, u.period for update of p
""")
READ_IN_SLOTS: Final = Statement(f"""
select owner_kind, owner, period, sum(runs)::bigint as runs, sum(points)::bigint as points, sum(cost)::bigint as cost
from {unnested(Pot)} join limit_slot s using (owner_kind, owner, period)
group by owner_kind, owner, period
""")
OPEN_SLOTS: Final = Statement(f"""
insert into limit_slot ({columns(SlotRow)}) select u.* from {unnested(SlotRow)}
order by u.owner_kind, u.owner, u.period, u.slot
on conflict do nothing
""")
LOCK_SLOTS: Final = Statement(f"""
select {columns(SlotRow, "s")}
from {unnested(WantedSlots)} join limit_slot s using (owner_kind, owner, period)
where u.whole or s.slot = :slot
order by s.owner_kind, s.owner, s.period, s.slot for update of s
""")
SET_POTS: Final = Statement(f"""
update limit_pot p set runs = u.runs, points = u.points, cost = u.cost
from {unnested(PotRow)} where (p.owner_kind, p.owner, p.period) = (u.owner_kind, u.owner, u.period)
""")
SET_SLOTS: Final = Statement(f"""
update limit_slot s set version = u.version, runs = u.runs, points = u.points, cost = u.cost
from {unnested(SlotRow)}
where (s.owner_kind, s.owner, s.period, s.slot) = (u.owner_kind, u.owner, u.period, u.slot)
""")
GIVE_BACK: Final = Statement(f"""
insert into limit_slot as s ({columns(SlotRow)}) select u.* from {unnested(SlotRow)}
order by u.owner_kind, u.owner, u.period, u.slot
on conflict (owner_kind, owner, period, slot) do update set
    runs = s.runs + excluded.runs, points = s.points + excluded.points, cost = s.cost + excluded.cost
""")


def by_pot(rows: Iterable[Any]) -> dict[Pot, Amounts]:
    return {pot_of_row(row): amounts_of_row(row) for row in map(PotRow._make, rows)}


def pot_of_row(row: PotRow | SlotRow) -> Pot:
    return Pot(row.owner_kind, row.owner, row.period)


def amounts_of_row(row: PotRow | SlotRow) -> Amounts:
    return Amounts(row.runs, row.points, row.cost)


_THESE: Final = """
owner_kind = :owner_kind and owner = any(:owners::text[]) and (:periods::text[] is null or period = any(:periods))
"""
_HANDED_OUT: Final = Statement(f"""
select owner_kind, owner, period, runs, points, cost from limit_pot where {_THESE}
""")
_IN_SLOTS: Final = Statement(f"""
select owner_kind, owner, period, -sum(runs)::bigint, -sum(points)::bigint, -sum(cost)::bigint
from limit_slot where {_THESE} group by owner_kind, owner, period
""")


async def used(
    connection: Connection, owner_kind: str, owners: Sequence[str], periods: Sequence[str] | None
) -> dict[Pot, Amounts]:
    """What was handed out of the pots of these owners, of some periods or of all, and is in no slot any more. On
    several servers something may come into a slot after the pots were read.
    """
    asked = {"owner_kind": owner_kind, "owners": list(owners), "periods": periods}
    handed_out = await connection.fetch(*_HANDED_OUT(**asked))
    found = {Pot(*row[:3]): Amounts(*row[3:]) for row in handed_out}
    for *pot, runs, points, cost in await slices.sums(connection, _IN_SLOTS(**asked), facts=3):
        place = Pot(*pot)
        found[place] = found.get(place, NOTHING).plus(Amounts(runs, points, cost)).at_least(NOTHING)
    return found
