"""Members as partners read them. Questions that come within a millisecond or two are asked of the database together."""

import asyncio
from collections.abc import Sequence
from typing import Final, NamedTuple

from abacus.ledger.transfer import Account
from abacus.postgres import Pool, passing_failures
from abacus.tiers.store import TIER

_GATHER_S: Final = 0.001
_MOST_TOGETHER: Final = 500

_HOLDINGS: Final = f"""
select {", ".join(f"u.{name}" for name in Account._fields)}, {TIER}
from account u
where u.member_id = any($1::text[])
order by u.member_id, u.program
"""


class Holding(NamedTuple):
    """A member's account in one program, and the tier there."""

    account: Account
    tier: str


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
