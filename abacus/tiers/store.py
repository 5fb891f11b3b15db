"""Memberships in Postgres: which tier a member has in a program."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.ledger.transfer import AccountId
from abacus.postgres import Pool, passing_failures

BASE_TIER: Final = "member"


class Membership(NamedTuple):
    """A member's tier, who set it and why."""

    member_id: str
    program: str
    tier: str
    reason: str
    actor: str
    set_at: datetime


class MembershipStore:
    """Reads for the calculation, and the operator's override."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def tiers_of(self, accounts: Collection[AccountId]) -> Mapping[AccountId, str]:
        """The tier of every account asked for, in one query. Raises `Unavailable`."""
        async with passing_failures():
            rows = await self._pool.fetch(
                "select m.member_id, m.program, m.tier from unnest($1::text[], $2::text[]) as u (member_id, program)"
                " join membership m on m.member_id = u.member_id and m.program = u.program",
                [member_id for member_id, _ in accounts],
                [program for _, program in accounts],
            )
        listed = {(row[0], row[1]): row[2] for row in rows}
        return {account: listed.get(account, BASE_TIER) for account in accounts}

    async def set(self, account: AccountId, tier: str, *, reason: str, actor: str) -> Membership:
        now = self._clock.now()
        async with passing_failures():
            await self._pool.execute(
                "insert into membership (member_id, program, tier, reason, actor, set_at)"
                " values ($1, $2, $3, $4, $5, $6) on conflict (member_id, program)"
                " do update set tier = excluded.tier, reason = excluded.reason,"
                " actor = excluded.actor, set_at = excluded.set_at",
                *account,
                tier,
                reason,
                actor,
                now,
            )
        return Membership(*account, tier, reason, actor, now)

    async def show(self, member_id: str) -> Sequence[Membership]:
        async with passing_failures():
            rows = await self._pool.fetch(
                "select member_id, program, tier, reason, actor, set_at from membership where member_id = $1"
                " order by program",
                member_id,
            )
        return [Membership(*row) for row in rows]
