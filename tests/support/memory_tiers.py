"""Memberships in memory."""

from collections.abc import Collection, Mapping

from abacus.ledger.types.account import AccountId
from abacus.pricing.decide.card import BASE_TIER


class MemoryTiers:
    """`Tiers` over a dictionary; nobody listed is a `member`. The tiers of accounts that are away cannot be read."""

    def __init__(self, listed: Mapping[AccountId, str], away: Collection[AccountId] = ()) -> None:
        self.listed = dict(listed)
        self._away = away

    async def tiers_of(self, accounts: Collection[AccountId]) -> Mapping[AccountId, str]:
        return {account: self.listed.get(account, BASE_TIER) for account in accounts}

    async def tiers_in_reach(self, accounts: Collection[AccountId]) -> Mapping[AccountId, str]:
        return await self.tiers_of([account for account in accounts if account not in self._away])

    async def probe(self) -> None:
        """Some can always be read."""
