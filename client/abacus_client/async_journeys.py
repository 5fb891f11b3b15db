"""What the client for asyncio asks of journeys; `journeys.py` is generated from this file."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from abacus_client import journey_calls
from abacus_client.calls import Answer, Call
from abacus_client.journey_answers import JourneyEntry, JourneyMember


class AsyncJourneyCalls(ABC):
    """The methods about journeys that members enter by the API."""

    async def enter_journey(
        self,
        journey: str,
        member_id: str,
        context: Mapping[str, Any] | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> JourneyEntry:
        """Lets a member enter a journey, with the fields of its context."""
        return await self._answer(journey_calls.enter(journey, member_id, context, idempotency_key))

    async def journey_member(self, journey: str, member_id: str) -> JourneyMember:
        """Where the member is in a journey, and what became of entries that were asked for."""
        return await self._answer(journey_calls.member(journey, member_id))

    @abstractmethod
    async def _answer(self, call: Call[Answer]) -> Answer:
        """The answer to a call; the client makes it."""
