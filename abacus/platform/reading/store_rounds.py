"""Rounds: what many callers want to know of one store is read together."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

from abacus.core.errors import Unavailable
from abacus.platform.gatherer import Gatherer, Work
from abacus.platform.health import Health
from abacus.platform.reading.breaker import Breaker

Wanted = TypeVar("Wanted")
Found = TypeVar("Found")
Result = TypeVar("Result")

_MOST_TOGETHER: Final = 64


class StoreRounds(Generic[Wanted, Found]):
    """Hands the requests of a round to `work`, which answers each. A round begins when one of `at_once` is free: single
    requests do not wait, and under load a round has many. Errors name the `store`.
    """

    def __init__(
        self, store: str, work: Work[Wanted, Found], *, within_s: float, at_once: int, health: Health | None
    ) -> None:
        self._store = store
        self._within_s = within_s
        self._breaker = Breaker(store, health=health)
        self._gatherer: Gatherer[Wanted, Found] = Gatherer(
            work, gather_s=0, most_together=_MOST_TOGETHER, at_once=at_once
        )

    async def read(self, wanted: Wanted) -> Found:
        """What a round has found. Raises `Unavailable` when waiting for the round and the round take too long."""
        try:
            async with asyncio.timeout(2 * self._within_s):
                return await self._gatherer.ask(wanted)
        except TimeoutError:
            raise Unavailable(self._store, f"no answer within {2 * self._within_s:g} s") from None

    async def ask_store(self, question: Callable[[], Awaitable[Result]]) -> Result:
        """The answer of the store, for the work of a round. Raises `Unavailable` within the time of one question."""
        return await self._breaker.call(question, within_s=self._within_s)

    async def close(self) -> None:
        """Waits for the rounds that are under way."""
        await self._gatherer.close()
