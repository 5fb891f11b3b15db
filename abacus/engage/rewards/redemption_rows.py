"""Rows of redemptions, and of the stock and the codes that they take: statements, and the transactions of them.

All lie on one server, also where the ledger is cut: a redemption, its stock and its codes change in one transaction. It
locks redemptions, then uses, then pools, each in order, so that no two transactions wait for each other.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime
from typing import Final, NamedTuple
from uuid import UUID

from abacus.engage.limits.types import Limits
from abacus.engage.rewards.decide.price import Locked
from abacus.engage.rewards.decide.redemption import UNFINISHED, USING, Redemption, Stage
from abacus.engage.rewards.decide.stock import MemberUse, Shelf, Use, uses_of
from abacus.platform.postgres import Also, Connection, Pool, passing_failures
from abacus.platform.sql import Statement, arrays, columns, unnested

# The limits of the reward of a redemption that nothing was taken for yet. Raises `Locked`.
LimitsOf = Callable[[Redemption], Limits]


class Step(NamedTuple):
    """A redemption goes from one stage to another; a reason is that of a refusal."""

    key: str
    was: str
    stage: str
    reason: str | None
    detail: str | None


class _Pieces(NamedTuple):
    """A row of `reward_use`."""

    reward: str
    period: str
    pieces: int


class _Member(NamedTuple):
    member_id: str
    reward: str
    day: date


class _Given(NamedTuple):
    """A code, and the redemption that has it."""

    pool: str
    place: int
    redemption_id: UUID


class _Reached(NamedTuple):
    """A pool, and the last place that was handed out."""

    name: str
    given: int


_COLUMNS: Final = columns(Redemption)
_PAYS: Final = f"'{Stage.GIVEN}', '{Stage.SENT}'"
_BACK: Final = f"'{Stage.CANCELLED}', '{Stage.RETURNED}'"
_USING: Final = ", ".join(f"'{each}'" for each in USING)
_UNFINISHED: Final = ", ".join(f"'{each}'" for each in UNFINISHED)
_SPARES: Final = 1_000

_OPEN: Final = Statement(f"""
insert into reward_redemption ({_COLUMNS}) select u.* from {unnested(Redemption, money="numeric")} order by u.key
on conflict do nothing
""")
_ROWS: Final = Statement(f"select {_COLUMNS} from reward_redemption where key = any(:keys::text[])")
_LOCK_ROWS: Final = Statement(f"""
select {_COLUMNS} from reward_redemption where key = any(:keys::text[]) and stage = :stage order by key for update
""")
_LOCK_USES: Final = Statement(f"""
select r.reward, r.period, r.pieces from {unnested(Use)} join reward_use r using (reward, period)
order by u.reward, u.period for update of r
""")
_OPEN_USES: Final = Statement(f"""
insert into reward_use select u.*, 0 from {unnested(Use)} order by u.reward, u.period on conflict do nothing
""")
_SET_USES: Final = Statement(f"""
update reward_use r set pieces = u.pieces from {unnested(_Pieces)} where r.reward = u.reward and r.period = u.period
""")
# A plan that is made while the table is empty may read all redemptions of the reward, and is kept: the index by reward
# is of no use to `r.reward || ''`.
_OF_MEMBERS: Final = Statement(f"""
select u.member_id, u.reward, u.day, coalesce(sum(r.quantity), 0)::bigint as ever,
    coalesce(sum(r.quantity) filter (where r.day = u.day), 0)::bigint as today
from {unnested(_Member)}
join reward_redemption r on r.member_id = u.member_id and r.reward || '' = u.reward and r.stage in ({_USING})
group by u.member_id, u.reward, u.day
""")
_LOCK_POOLS: Final = Statement("""
select name, loaded, given from reward_pool where name = any(:names::text[]) order by name for update
""")
_SPARE: Final = Statement(f"""
select pool, place from reward_code where pool = any(:names::text[]) and is_spare
order by pool, place limit {_SPARES} for update
""")
_SET_POOLS: Final = Statement(
    f"update reward_pool p set given = u.given from {unnested(_Reached)} where p.name = u.name"
)
_GIVE: Final = Statement(f"""
update reward_code c set redemption_id = u.redemption_id, is_spare = false
from {unnested(_Given)} where c.pool = u.pool and c.place = u.place
""")
_SPARE_AGAIN: Final = Statement("""
update reward_code set redemption_id = null, is_spare = true where redemption_id = any(:ids::uuid[])
""")
_STEP: Final = Statement(f"""
update reward_redemption r set stage = u.stage, reason = u.reason, detail = u.detail, changed_at = :now,
    given_at = coalesce(r.given_at, case when u.stage in ({_PAYS}) then :now::timestamptz end),
    back_at = case when u.stage in ({_BACK}) then :now::timestamptz else r.back_at end
from {unnested(Step, reason="text", detail="text")} where r.key = u.key and r.stage = u.was
""")
_STALE: Final = Statement(f"""
select {_COLUMNS} from reward_redemption where stage in ({_UNFINISHED}) and changed_at < :before
order by changed_at limit :most
""")


class RedemptionRows:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def opened(self, drafts: Sequence[Redemption], keys: Collection[str]) -> Mapping[str, Redemption]:
        """The redemptions of these keys; drafts whose keys are new are opened."""
        async with passing_failures(), self._pool.acquire() as connection:
            if drafts:
                await connection.execute(*_OPEN(**arrays(Redemption, drafts)))
            return await _of_keys(connection, keys)

    async def of_keys(self, keys: Collection[str]) -> Mapping[str, Redemption]:
        async with passing_failures():
            return await _of_keys(self._pool, keys)

    async def stale(self, before: datetime, most: int) -> list[Redemption]:
        """Unfinished redemptions that nothing has happened to since; the oldest first."""
        async with passing_failures():
            return [Redemption(*row) for row in await self._pool.fetch(*_STALE(before=before, most=most))]

    async def step(self, steps: Sequence[Step], now: datetime) -> None:
        """A redemption that is at another stage by now stays there."""
        async with passing_failures():
            await self._pool.execute(*_STEP(**arrays(Step, steps), now=now))

    async def step_told(self, step: Step, now: datetime, also: Also) -> None:
        """The same of one redemption, and `also` in the same transaction."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_STEP(**arrays(Step, [step]), now=now))
            await also(connection)

    async def take(self, keys: Collection[str], limits_of: LimitsOf, now: datetime) -> None:
        """Takes stock and codes for opened redemptions, in the order in which they were asked for; one that gets
        nothing is refused, and its points are to be let go.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            rows = await _locked(connection, keys, Stage.OPENED)
            if not rows:
                return
            allowed, steps = _allowed(rows, limits_of)
            shelf, pools = await _shelf(connection, [each for each, _ in allowed])
            for each, limits in allowed:
                steps.append(_taken(shelf, each, limits))
            await _write(connection, shelf, pools, [each for each, _ in allowed])
            await connection.execute(*_STEP(**arrays(Step, steps), now=now))

    async def untake(self, why: Mapping[str, Locked | None], stage: Stage, to: Stage, now: datetime) -> None:
        """Gives the stock of redemptions at a stage back, by their keys. Codes that nobody has seen are free again."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            rows = await _locked(connection, why, stage)
            if not rows:
                return
            used = await _locked_uses(connection, rows)
            for each in rows:
                for use in uses_of(each):
                    used[use] -= each.quantity
            await connection.execute(*_SET_USES(**arrays(_Pieces, [_Pieces(*use, n) for use, n in used.items()])))
            if stage is Stage.TAKEN:
                await connection.execute(*_SPARE_AGAIN(ids=[each.redemption_id for each in rows]))
            steps = [_untaken(each, why[each.key], to) for each in rows]
            await connection.execute(*_STEP(**arrays(Step, steps), now=now))


async def _of_keys(through: Pool | Connection, keys: Collection[str]) -> dict[str, Redemption]:
    rows = await through.fetch(*_ROWS(keys=list(keys)))
    return {row["key"]: Redemption(*row) for row in rows}


async def _locked(connection: Connection, keys: Collection[str], stage: Stage) -> list[Redemption]:
    rows = await connection.fetch(*_LOCK_ROWS(keys=sorted(keys), stage=stage.value))
    return sorted((Redemption(*row) for row in rows), key=lambda each: (each.asked_at, each.key))


def _allowed(rows: Sequence[Redemption], limits_of: LimitsOf) -> tuple[list[tuple[Redemption, Limits]], list[Step]]:
    allowed: list[tuple[Redemption, Limits]] = []
    steps: list[Step] = []
    for each in rows:
        try:
            allowed.append((each, limits_of(each)))
        except Locked as fault:
            steps.append(_refused(each, fault))
    return allowed, steps


def _taken(shelf: Shelf, each: Redemption, limits: Limits) -> Step:
    try:
        shelf.take(each, limits)
    except Locked as fault:
        return _refused(each, fault)
    return Step(each.key, Stage.OPENED, Stage.TAKEN, None, None)


def _untaken(each: Redemption, why: Locked | None, to: Stage) -> Step:
    reason, detail = (each.reason, each.detail) if why is None else (why.lock, why.detail)
    return Step(each.key, each.stage, to, reason, detail)


def _refused(each: Redemption, fault: Locked) -> Step:
    return Step(each.key, Stage.OPENED, Stage.RELEASING, fault.lock, fault.detail)


async def _locked_uses(connection: Connection, rows: Sequence[Redemption]) -> dict[Use, int]:
    uses = sorted({use for each in rows for use in uses_of(each)})
    found = await connection.fetch(*_LOCK_USES(**arrays(Use, uses)))
    if len(found) < len(uses):
        await connection.execute(*_OPEN_USES(**arrays(Use, uses)))
        found = await connection.fetch(*_LOCK_USES(**arrays(Use, uses)))
    return {Use(reward, period): pieces for reward, period, pieces in found}


async def _shelf(connection: Connection, rows: Sequence[Redemption]) -> tuple[Shelf, dict[str, int]]:
    """With the last place that was handed out of each pool."""
    used = await _locked_uses(connection, rows)
    asked = sorted({_Member(each.member_id, each.reward, each.day) for each in rows})
    of_members: dict[MemberUse, int] = {}
    for member_id, reward, day, ever, today in await connection.fetch(*_OF_MEMBERS(**arrays(_Member, asked))):
        of_members[MemberUse(member_id, reward, None)] = ever
        of_members[MemberUse(member_id, reward, day)] = today
    wanted: dict[str, int] = {}
    for each in rows:
        if each.pool is not None:
            wanted[each.pool] = wanted.get(each.pool, 0) + each.quantity
    codes: dict[str, list[int]] = {}
    reached: dict[str, int] = {}
    if wanted:
        names = sorted(wanted)
        pools = await connection.fetch(*_LOCK_POOLS(names=names))
        for pool, place in await connection.fetch(*_SPARE(names=names)):
            codes.setdefault(pool, []).append(place)
        for name, loaded, given in pools:
            reached[name] = given
            codes.setdefault(name, []).extend(range(given + 1, min(loaded, given + wanted[name]) + 1))
    return Shelf(used, of_members, codes), reached


async def _write(connection: Connection, shelf: Shelf, reached: Mapping[str, int], rows: Sequence[Redemption]) -> None:
    await connection.execute(*_SET_USES(**arrays(_Pieces, [_Pieces(*use, n) for use, n in shelf.used.items()])))
    given = [
        _Given(each.pool, place, each.redemption_id)
        for each in rows
        if each.pool is not None
        for place in shelf.given.get(each.redemption_id, ())
    ]
    if not given:
        return
    await connection.execute(*_GIVE(**arrays(_Given, given)))
    last = dict(reached)
    for pool, place, _ in given:
        last[pool] = max(last[pool], place)
    await connection.execute(*_SET_POOLS(**arrays(_Reached, [_Reached(*each) for each in last.items()])))
