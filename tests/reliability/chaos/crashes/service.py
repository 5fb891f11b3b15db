"""A service that a rule asks, and that gives no answer at first."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Final

from abacus.engage.downstreams.decide.downstream_document import parse_downstream
from abacus.engage.downstreams.store import DownstreamStore
from abacus.platform.delivery.decide.signature import new_secret
from tests.reliability.chaos.crashes.lane import Lane
from tests.support.downstreams import publish_downstream
from tests.support.receiver import Receiver, receiving

# Left alone, what it is asked for would be asked again after delays that double, for minutes.
ASKED_EACH_TIME: Final = {"abacus.engage.downstreams.services:TRIES": 1_000}


class RiskService:
    """Its name says of whom it tells something: `risky` is the rule that asks it."""

    def __init__(self, lane: Lane, mark: str) -> None:
        self._lane = lane
        self._name = f"risk_{mark}"
        self._open = AsyncExitStack()

    @property
    def risky(self) -> dict[str, Any]:
        return {"operator": "gte", "lhs": f"external.{self._name}", "rhs": 5}

    @property
    def requests(self) -> int:
        """How often it was asked."""
        return len(self._receiver.requests)

    async def publish(self, now: datetime) -> None:
        self._receiver: Receiver = await self._open.enter_async_context(receiving())
        self._receiver.answers("500 Oops")
        document = {
            "name": self._name,
            "kind": "external",
            "url": self._receiver.url,
            "type": "integer",
            "otherwise": "wait",
            "timeout": "10s",
            "at_once": 1,
        }
        downstream = parse_downstream(document, to_private=True)
        await publish_downstream(self._lane.pool, downstream, new_secret(), now)

    @asynccontextmanager
    async def back_when(self, is_time: Callable[[], Awaitable[bool]]) -> AsyncIterator[None]:
        """It answers from then on, and behind the block at the latest."""

        async def come_back() -> None:
            while not await is_time():  # noqa: ASYNC110  # it is another process
                await asyncio.sleep(0.05)
            self._answer()

        coming = asyncio.ensure_future(come_back())
        try:
            yield
        finally:
            coming.cancel()
            await asyncio.wait((coming,))
            self._answer()

    def _answer(self) -> None:
        self._receiver.answers("200 OK", body='{"answers":[7]}')

    async def retire(self) -> None:
        await self._open.aclose()
        await DownstreamStore(self._lane.pool).retire(self._name, by="person:ann", now=datetime.now(UTC))
