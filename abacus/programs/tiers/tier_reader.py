"""Reads the tier of one account at a time; readers of a millisecond share a query."""

from collections.abc import Sequence

from abacus.ledger.types.account import AccountId
from abacus.platform import slices
from abacus.platform.gatherer import PendingRequest
from abacus.platform.postgres import Pool
from abacus.programs.tiers.store import tiers_in


class TierReader:
    """One for each process."""

    def __init__(self, pool: Pool) -> None:
        self._tiers: slices.SharedReads[AccountId, str] = slices.SharedReads(pool, _read, lambda account: account[0])

    async def tier(self, account: AccountId) -> str:
        """The tier that counts for the account. Raises `Unavailable`."""
        return await self._tiers.ask(account)


async def _read(slice_: slices.Slice, together: Sequence[PendingRequest[AccountId, str]]) -> None:
    accounts = list({waiting.request for waiting in together})
    members, programs = [each for each, _ in accounts], [each for _, each in accounts]
    async with slice_.unled() as connection:
        rows = await connection.fetch(*tiers_in(slice_.schema)(member_ids=members, programs=programs))
    tiers = {(row["member_id"], row["program"]): row["tier"] for row in rows}
    for waiting in together:
        waiting.answer(tiers[waiting.request])
