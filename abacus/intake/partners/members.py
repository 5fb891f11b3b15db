"""Reads the accounts of members for partners. Requests within a millisecond or two share one query of the database, or
of a slice.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from typing import Final, NamedTuple

from abacus.core.sources import source_sql
from abacus.ledger.decide.pending import vested
from abacus.ledger.store.pending_sql import pending
from abacus.ledger.types.account import Account
from abacus.ledger.types.kinds import OF_HELD
from abacus.platform import slices
from abacus.platform.gatherer import PendingRequest
from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement, columns, row_of
from abacus.pricing.explanation.sql import number
from abacus.programs.tiers.store import TIER

# Spending waits for this: one statement.
_HOLDINGS: Final = Statement(f"""
select {columns(Account, "u")}, {TIER} as tier from account u
where u.member_id = any(:members::text[]) order by u.member_id, u.program
""")

# The tiers at that moment: as the last change before it set it, else as the first change after it replaced it.
_TIERS_THEN: Final = Statement(f"""
select u.program, coalesce(
    (select c.to_tier from tier_change c
        where c.member_id = u.member_id and c.program = u.program and c.changed_at <= :moment
        order by c.n desc limit 1),
    (select c.from_tier from tier_change c
        where c.member_id = u.member_id and c.program = u.program and c.changed_at > :moment order by c.n limit 1),
    {TIER}
) as tier
from (select :member_id::text as member_id, unnest(:programs::text[]) as program) u
""")

# Explanations of these kinds tell the change of the held points.
_HOLDING_KINDS: Final = ", ".join(f"'{kind}'" for kind in sorted(OF_HELD))

# By activity the last transfer names the account's day. By lots it may name a lot's: the account's is the first of the
# lots that the points gone until then left open. Transfers from before format 3 are read as the account lapses now.
_DAY_THEN: Final = """
case when not coalesce(t.lifetime, u.lifetime) then t.expires_on else (
    select min(lot.expires_on) from (
        select c.expires_on, c.points - d.drawn as capacity, sum(c.points - d.drawn) over (order by c.seq) as upto
        from transfer c cross join lateral (
            select coalesce(sum(d.points), 0) as drawn from draw d
            where d.member_id = c.member_id and d.program = c.program and d.lot_seq = c.seq and d.seq <= t.seq
        ) d
        where c.member_id = t.member_id and c.program = t.program and c.seq <= t.seq and c.points > 0
    ) lot
    where lot.capacity > 0 and lot.upto > coalesce((
        select sum(-e.points) from transfer e
        where e.member_id = t.member_id and e.program = t.program and e.seq <= t.seq and e.points < 0
    ), 0) - coalesce((
        select sum(d.points) from draw d where d.member_id = t.member_id and d.program = t.program and d.seq <= t.seq
    ), 0)
) end
"""

_THEN: Final = Statement(f"""
select u.program, u.country, t.balance_after as balance,
    (select coalesce(sum({number("held", "h")}), 0)::bigint from transfer h
        where h.member_id = u.member_id and h.program = u.program and h.seq <= t.seq
            and h.kind in ({_HOLDING_KINDS})) as held,
    (select coalesce(sum({pending("p")}), 0)::bigint from transfer p
        where p.member_id = u.member_id and p.program = u.program and p.seq <= t.seq
            and p.vests_at > :moment) as pending,
    {_DAY_THEN} as expires_on
from account u
cross join lateral (
    select * from transfer t where t.member_id = u.member_id and t.program = u.program and t.posted_at <= :moment
    order by t.seq desc limit 1
) t
where u.member_id = :member_id
order by u.program
""")


_KNOWS: Final = Statement(f"""
select exists (select from transfer t where t.member_id = :member_id and {source_sql("t")} = :source)
""")


class AccountAsOf(NamedTuple):
    """The points of an account at some time, and its tier as far as that is known. Without points there is no day after
    which they lapse, whatever the account remembers.
    """

    program: str
    country: str
    balance: int
    held: int
    tier: str
    expires_on: date | None
    pending: int = 0

    def shown(self) -> "AccountAsOf":
        return self if self.balance > 0 else self._replace(expires_on=None)

    @property
    def available(self) -> int:
        return self.balance - self.held - self.pending


class MemberAccount(NamedTuple):
    """A member's account in one program, with its tier."""

    account: Account
    tier: str

    def at(self, now: datetime) -> AccountAsOf:
        """The account at present, in the same type as its past."""
        account = vested(self.account, now)
        held = AccountAsOf(
            program=account.program,
            country=account.country,
            balance=account.balance,
            held=account.held,
            pending=account.pending,
            tier=self.tier,
            expires_on=account.expires_on,
        )
        return held.shown()


class MemberReader:
    """One for each process."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._holdings: slices.SharedReads[str, Sequence[MemberAccount]] = slices.SharedReads(
            pool, _read, member_of=str
        )

    async def holdings(self, member_id: str) -> Sequence[MemberAccount]:
        """Raises `Unavailable`."""
        return await self._holdings.ask(member_id)

    async def holdings_of(self, members: Collection[str]) -> Mapping[str, Sequence[MemberAccount] | BaseException]:
        """Of each member the accounts, or why they cannot be read. Raises `Unavailable`."""
        return await self._holdings.ask_all(members)

    async def as_of(self, member_id: str, moment: datetime) -> Sequence[AccountAsOf]:
        """The accounts after the transfers that were posted until then; accounts without a transfer are left out.
        Raises `Unavailable`.
        """
        async with (
            slices.at(self._pool, member_id) as connection,
            connection.transaction(isolation="repeatable_read"),
        ):
            rows = await connection.fetch(*_THEN(member_id=member_id, moment=moment))
            programs = [row["program"] for row in rows]
            known = await connection.fetch(*_TIERS_THEN(member_id=member_id, moment=moment, programs=programs))
        tiers = {row["program"]: row["tier"] for row in known}
        return [AccountAsOf(**row, tier=tiers[row["program"]]).shown() for row in rows]

    async def knows(self, member_id: str, source: str) -> bool:
        """Whether a transfer of the member's came from this source. Raises `Unavailable`."""
        async with slices.at(self._pool, member_id) as connection:
            return bool(await connection.fetchval(*_KNOWS(member_id=member_id, source=source)))


async def _read(slice_: slices.Slice, together: Sequence[PendingRequest[str, Sequence[MemberAccount]]]) -> None:
    holdings: dict[str, list[MemberAccount]] = {waiting.request: [] for waiting in together}
    async with slice_.at() as connection:
        rows = await connection.fetch(*_HOLDINGS(members=list(holdings)))
    for row in rows:
        holdings[row["member_id"]].append(MemberAccount(row_of(Account, row), row["tier"]))
    for waiting in together:
        waiting.answer(holdings[waiting.request])
