"""Memberships in memory."""

from collections.abc import Collection, Mapping

from abacus.ledger.types.account import AccountId
from abacus.pricing.decide.card import BASE_TIER


class MemoryTiers:
    """`Tiers` over a dictionary; nobody listed is a `member`."""

    def __init__(self, listed: Mapping[AccountId, str]) -> None:
        self.listed = dict(listed)

    async def tiers_of(self, accounts: Collection[AccountId]) -> Mapping[AccountId, str]:
        return {account: self.listed.get(account, BASE_TIER) for account in accounts}
