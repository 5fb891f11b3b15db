"""What the client for asyncio asks about rewards, and about what points pay; `rewards.py` is generated from this
file.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from decimal import Decimal
from typing import Literal
from uuid import UUID

from abacus_client import reward_calls
from abacus_client.answers import Item, Page
from abacus_client.calls import Answer, Call
from abacus_client.reward_answers import PointQuote, RewardRedemption, Rewards


class AsyncRewardCalls(ABC):
    """The methods about what points buy and pay."""

    async def point_quote(
        self,
        member_id: str,
        *,
        points: int | None = None,
        money: Decimal | str | None = None,
        program: str | None = None,
        country: str | None = None,
    ) -> PointQuote:
        """What the points pay at a till, or how many points pay the money; of neither, what all available points
        pay. Nothing is spent.
        """
        return await self._answer(reward_calls.point_quote(member_id, points, money, program, country))

    async def rewards(self, member_id: str) -> Rewards:
        """The rewards that are there for the member."""
        return await self._answer(reward_calls.rewards(member_id))

    async def redeem_reward(
        self,
        member_id: str,
        reward: str,
        *,
        quantity: int = 1,
        points: int | None = None,
        idempotency_key: str | None = None,
    ) -> RewardRedemption:
        """Redeems a reward; with `points` no more points than that are paid, and the rest is money."""
        return await self._answer(reward_calls.redeem(member_id, reward, quantity, points, idempotency_key))

    def redemptions(self, member_id: str) -> AsyncIterator[RewardRedemption]:
        """All redemptions of the member, the newest first and without codes; a page is fetched when its first is
        read.
        """
        return self._items(lambda cursor: reward_calls.redemptions(member_id, cursor))

    async def redemption(self, member_id: str, redemption_id: UUID | str) -> RewardRedemption:
        """A redemption, with its code."""
        return await self._answer(reward_calls.redemption(member_id, redemption_id))

    async def cancel_redemption(self, member_id: str, redemption_id: UUID | str) -> RewardRedemption:
        """Brings the points back for what was not delivered."""
        return await self._answer(reward_calls.give_back(member_id, redemption_id, "cancel"))

    async def return_redemption(self, member_id: str, redemption_id: UUID | str) -> RewardRedemption:
        """Brings the points back for what the member had."""
        return await self._answer(reward_calls.give_back(member_id, redemption_id, "return"))

    async def report_fulfilment(
        self,
        member_id: str,
        redemption_id: UUID | str,
        state: Literal["fulfilled", "failed"],
        *,
        detail: str | None = None,
    ) -> RewardRedemption:
        """Says what became of a redemption, as its fulfiller; what failed is cancelled."""
        return await self._answer(reward_calls.report(member_id, redemption_id, state, detail))

    @abstractmethod
    def _items(self, page_at: Callable[[str | None], Call[Page[Item]]]) -> AsyncIterator[Item]:
        """The items of all pages; the client asks for them one after the other."""

    @abstractmethod
    async def _answer(self, call: Call[Answer]) -> Answer:
        """The answer to a call; the client makes it."""
