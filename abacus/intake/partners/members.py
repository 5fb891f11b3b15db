"""Members as partners read them. Questions that come within a millisecond or two are asked of the database together."""

import asyncio
from collections.abc import Sequence
from datetime import date, datetime
from typing import Final, NamedTuple

from abacus.ledger.types.account import Account
from abacus.platform.postgres import Pool, passing_failures
from abacus.programs.tiers.store import TIER

_GATHER_S: Final = 0.001
_MOST_TOGETHER: Final = 500

_HOLDINGS: Final = f"""
select {", ".join(f"u.{name}" for name in Account._fields)}, {TIER}
from account u
where u.member_id = any($1::text[])
order by u.member_id, u.program
"""

# The tier that counted then: what the last change before made it, or what the first one since has found.
_TIER_THEN: Final = f"""
coalesce(
    (select c.to_tier from tier_change c
        where c.member_id = u.member_id and c.program = u.program and c.changed_at <= $2 order by c.n desc limit 1),
    (select c.from_tier from tier_change c
        where c.member_id = u.member_id and c.program = u.program and c.changed_at > $2 order by c.n limit 1),
    {TIER}
)
"""

# These say in their explanation by how much they change what is held.
_HOLDING_KINDS: Final = "('hold', 'release', 'spend')"

_THEN: Final = f"""
select u.program, u.country, t.balance_after,
    (select coalesce(sum((h.explanation ->> 'held')::bigint), 0)::bigint from transfer h
        where h.member_id = u.member_id and h.program = u.program and h.seq <= t.seq and h.kind in {_HOLDING_KINDS}),
    {_TIER_THEN}, t.expires_on
from account u
cross join lateral (
    select * from transfer t where t.member_id = u.member_id and t.program = u.program and t.posted_at <= $2
    order by t.seq desc limit 1
) t
where u.member_id = $1
order by u.program
"""


class Then(NamedTuple):
    """What an account held at some time, and the tier there as far as it is known."""

    program: str
    country: str
    balance: int
    held: int
    tier: str
    expires_on: date | None

    @property
    def available(self) -> int:
        return self.balance - self.held


class Holding(NamedTuple):
    """A member's account in one program, and the tier there."""

    account: Account
    tier: str

    @property
    def now(self) -> Then:
        """The same in the words in which the past is told."""
        account = self.account
        return Then(account.program, account.country, account.balance, account.held, self.tier, account.expires_on)


class MemberReader:
    """One for each process."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._waiting: dict[str, asyncio.Future[list[Holding]]] = {}
        self._asking: set[asyncio.Task[None]] = set()

    async def holdings(self, member_id: str) -> Sequence[Holding]:
        """Raises `Unavailable`."""
        answer = self._waiting.get(member_id)
        if answer is None:
            answer = self._waiting[member_id] = asyncio.get_running_loop().create_future()
            if len(self._waiting) == 1:
                task = asyncio.create_task(self._ask())
                self._asking.add(task)
                task.add_done_callback(self._asking.discard)
        return await asyncio.shield(answer)

    async def as_of(self, member_id: str, moment: datetime) -> Sequence[Then]:
        """As the transfers posted until then left it. An account that had none is not there. Raises `Unavailable`."""
        async with passing_failures():
            return [Then(*row) for row in await self._pool.fetch(_THEN, member_id, moment)]

    async def _ask(self) -> None:
        await asyncio.sleep(_GATHER_S)
        together, self._waiting = self._waiting, {}
        members = list(together)
        try:
            for start in range(0, len(members), _MOST_TOGETHER):
                await self._ask_for(members[start : start + _MOST_TOGETHER], together)
        except Exception as error:  # noqa: BLE001  # whatever it is, each caller is told
            for answer in together.values():
                if not answer.done():
                    answer.set_exception(error)

    async def _ask_for(self, members: list[str], together: dict[str, "asyncio.Future[list[Holding]]"]) -> None:
        found: dict[str, list[Holding]] = {member_id: [] for member_id in members}
        async with passing_failures():
            rows = await self._pool.fetch(_HOLDINGS, members)
        for *values, tier in rows:
            account = Account(*values)
            found[account.member_id].append(Holding(account, tier))
        for member_id, holdings in found.items():
            if not together[member_id].done():
                together[member_id].set_result(holdings)
