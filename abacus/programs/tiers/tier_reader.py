"""Reads the tier of one account at a time. Requests within a millisecond share one query of the database, or of a
slice, so that a slice whose server is silent holds up its own members only.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final, TypeAlias

from abacus.ledger.types.account import AccountId
from abacus.platform import slices
from abacus.platform.gatherer import Gatherer, PendingRequest
from abacus.platform.postgres import Pool
from abacus.programs.tiers.store import tiers_in

_GATHER_S: Final = 0.001
_MOST_TOGETHER: Final = 500

_Request: TypeAlias = PendingRequest[AccountId, str]


class TierReader:
    """One for each process."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._gatherers: dict[int, Gatherer[AccountId, str]] = {}

    async def tier(self, account: AccountId) -> str:
        """The tier that counts for the account. Raises `Unavailable`."""
        slice_ = await slices.slice_of(self._pool, account[0])
        gatherer = self._gatherers.get(slice_.number)
        if gatherer is None:
            read = partial(_read, slice_)
            gatherer = self._gatherers[slice_.number] = Gatherer(read, gather_s=_GATHER_S, most_together=_MOST_TOGETHER)
        return await gatherer.ask(account)


async def _read(slice_: slices.Slice, together: Sequence[_Request]) -> None:
    accounts = list({waiting.request for waiting in together})
    members, programs = [each for each, _ in accounts], [each for _, each in accounts]
    async with slice_.unled() as connection:
        rows = await connection.fetch(*tiers_in(slice_.schema)(member_ids=members, programs=programs))
    tiers = {(row["member_id"], row["program"]): row["tier"] for row in rows}
    for waiting in together:
        waiting.answer(tiers[waiting.request])
