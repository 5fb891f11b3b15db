"""Tiers in Postgres: the reading that everybody earns by, and the operator's override of it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from itertools import chain
from typing import Any, Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.ledger.types.account import AccountId
from abacus.platform import slices
from abacus.platform.postgres import Also, Connection, Pool, nothing_else
from abacus.platform.sql import Statement, columns
from abacus.pricing.decide.card import BASE_TIER
from abacus.programs.tiers.accounts import know, lock, look, write
from abacus.programs.tiers.decide.policy import Tally
from abacus.programs.tiers.decide.tier_change import Change, Known, override

# The tier that counts for the account of a row called `u`: the override, else the tier by points, else the first tier.
# Every statement that shows a tier uses this. Subqueries, because each is a look-up by key whatever the sizes of the
# tables: in place of a join with a batch the planner may scan a table.
_TIER: Final = f"""
coalesce(
    (select m.tier from {{schema}}membership m where m.member_id = u.member_id and m.program = u.program),
    (select a.tier from {{schema}}account_tier a where a.member_id = u.member_id and a.program = u.program),
    '{BASE_TIER}'
)
"""
TIER: Final = _TIER.format(schema="")


@cache
def tiers_in(schema: str | None) -> Statement:
    """The tiers of accounts of that slice."""
    tier = _TIER.format(schema=f"{schema}." if schema else "")
    return Statement(f"""
    select u.member_id, u.program, {tier} as tier
    from unnest(:member_ids::text[], :programs::text[]) as u (member_id, program)
    """)


_PROGRAMS: Final = Statement("""
select program from account_tier where member_id = :member_id
union select program from membership where member_id = :member_id
""")

_OPEN: Final = Statement("""
insert into account_tier (member_id, program, tier) values (:member_id, :program, :tier) on conflict do nothing
""")

_HISTORY: Final = Statement(f"""
select {columns(Change)} from tier_change where member_id = :member_id
order by changed_at desc, program, n desc limit :limit
""")


class Membership(NamedTuple):
    """The tier that an operator has set, with the operator and the reason."""

    member_id: str
    program: str
    tier: str
    reason: str
    actor: str
    set_at: datetime


_SET: Final = Statement(f"""
insert into membership ({columns(Membership)}) values (:member_id, :program, :tier, :reason, :actor, :set_at)
on conflict (member_id, program) do update
set tier = excluded.tier, reason = excluded.reason, actor = excluded.actor, set_at = excluded.set_at
""")

_CLEAR: Final = Statement("delete from membership where member_id = :member_id and program = :program")

_MEMBERSHIPS: Final = Statement(f"select {columns(Membership)} from membership where member_id = :member_id")


class Shown(NamedTuple):
    """A member's tier in a program, in full."""

    known: Known
    membership: Membership | None

    @property
    def tallies(self) -> list[Tally]:
        """The newest period first."""
        return sorted(self.known.tallies.values(), key=lambda tally: tally.period, reverse=True)


class MembershipStore:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def tiers_of(self, accounts: Collection[AccountId]) -> Mapping[AccountId, str]:
        """The tiers of these accounts, in one query of each slice."""
        return _by_account((await self._split(accounts, patience_s=None)).whole())

    async def tiers_in_reach(self, accounts: Collection[AccountId]) -> Mapping[AccountId, str]:
        """Without tiers on servers that are away. Raises `Unavailable` when all servers are."""
        return _by_account((await self._split(accounts)).in_reach())

    async def probe(self) -> None:
        """Raises `Unavailable` when no tier can be read."""
        (await slices.everywhere(self._pool, partial(_tiers, accounts=()), reads=True)).in_reach()

    async def set(
        self, account: AccountId, tier: str, *, reason: str, actor: str, also: Also = nothing_else
    ) -> Membership:
        """From now on this is the tier, whatever the points say, until it is cleared."""
        now = self._clock.now()
        async with slices.together(self._pool, account[0]) as connection:
            before = await _held(connection, account)
            membership = Membership(*account, tier, reason, actor, now)
            await connection.execute(*_SET(**membership._asdict()))
            after, changes = override(before, tier, actor, reason, now)
            await write(connection, [account], [(before, after)], changes)
            await also(connection)
        return membership

    async def clear(self, account: AccountId, *, reason: str, actor: str, also: Also = nothing_else) -> str:
        """Leave the tier to the points again; returns the tier that counts now. Raises `Refused` when none was set."""
        now, (member_id, program) = self._clock.now(), account
        async with slices.together(self._pool, account[0]) as connection:
            before = await _held(connection, account)
            if before.override is None:
                raise Refused(f"no tier is set for {member_id!r} in {program}; `abacus tiers show` says what counts")
            await connection.execute(*_CLEAR(member_id=member_id, program=program))
            after, changes = override(before, None, actor, reason, now)
            await write(connection, [account], [(before, after)], changes)
            await also(connection)
        return after.tier

    async def show(self, member_id: str) -> Sequence[Shown]:
        """The member's tier in each program that has one, as of one moment."""
        async with (
            slices.at(self._pool, member_id) as connection,
            connection.transaction(isolation="repeatable_read"),
        ):
            ids = [(member_id, row["program"]) for row in await connection.fetch(*_PROGRAMS(member_id=member_id))]
            known = await know(connection, ids, await look(connection, ids))
            rows = await connection.fetch(*_MEMBERSHIPS(member_id=member_id))
        memberships = {(each.member_id, each.program): each for each in (Membership(*row) for row in rows)}
        return [Shown(known[id_], memberships.get(id_)) for id_ in sorted(ids)]

    async def history(self, member_id: str, limit: int) -> Sequence[Change]:
        """The newest changes first."""
        async with slices.at(self._pool, member_id) as connection:
            rows = await connection.fetch(*_HISTORY(member_id=member_id, limit=limit))
        return [Change(*row) for row in rows]

    async def _split(
        self, accounts: Collection[AccountId], *, patience_s: float | None = slices.PATIENCE_S
    ) -> slices.Split[AccountId, Sequence[Any]]:
        return await slices.split(
            self._pool, accounts, _tiers, member_of=lambda account: account[0], patience_s=patience_s, reads=True
        )


async def _tiers(slice_: slices.Slice, accounts: Sequence[AccountId]) -> Sequence[Any]:
    members, programs = [each for each, _ in accounts], [each for _, each in accounts]
    async with slice_.unled() as connection:
        rows: Sequence[Any] = await connection.fetch(*tiers_in(slice_.schema)(member_ids=members, programs=programs))
    return rows


def _by_account(rows: Iterable[Sequence[Any]]) -> dict[AccountId, str]:
    return {(row["member_id"], row["program"]): row["tier"] for row in chain.from_iterable(rows)}


async def _held(connection: Connection, account: AccountId) -> Known:
    """The account in full, locked until the transaction ends; opened where it was not there."""
    member_id, program = account
    await connection.execute(*_OPEN(member_id=member_id, program=program, tier=BASE_TIER))
    known = await know(connection, [account], await lock(connection, [account]))
    return known[account]
