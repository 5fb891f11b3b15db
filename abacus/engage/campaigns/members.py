"""What rules ask of members' accounts, by the rooms that know it."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TypeVar

from abacus.ledger.types.account import AccountId, Standing

T = TypeVar("T")
Look = Callable[[Collection[AccountId]], Awaitable[Mapping[AccountId, T]]]


class AccountsOfMembers:
    """`values.Members`, made of a look at tiers and one at accounts."""

    def __init__(self, tiers: Look[str], standings: Look[Standing]) -> None:
        self._tiers = tiers
        self._standings = standings

    async def tiers_of(self, accounts: Collection[AccountId]) -> Mapping[AccountId, str]:
        return await self._tiers(accounts)

    async def standings_of(self, accounts: Collection[AccountId]) -> Mapping[AccountId, Standing]:
        return await self._standings(accounts)
