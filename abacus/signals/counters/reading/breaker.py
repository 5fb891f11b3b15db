"""A breaker around a store: nobody waits for one that does not answer."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from abacus.core.errors import Unavailable
from abacus.platform.health import Health

Result = TypeVar("Result")


class Breaker:
    """Ends a call after `within_s`. After `most_failures` in a row it is open: calls are refused at once, and one goes
    through every `rest_s` to see whether the store is back. The process's health tells while it is open.
    """

    def __init__(
        self,
        store: str,
        *,
        within_s: float,
        most_failures: int = 3,
        rest_s: float = 1.0,
        monotonic: Callable[[], float] = time.monotonic,
        health: Health | None = None,
    ) -> None:
        self._store = store
        self._health = health or Health(())
        self._within_s = within_s
        self._most_failures = most_failures
        self._rest_s = rest_s
        self._monotonic = monotonic
        self._failures = 0
        self._rests_until = float("-inf")
        self._why = ""

    @property
    def is_open(self) -> bool:
        return self._failures >= self._most_failures

    async def call(self, action: Callable[[], Awaitable[Result]]) -> Result:
        """Raises `Unavailable` when the call fails so, takes too long, or is not made."""
        if self.is_open:
            now = self._monotonic()
            if now < self._rests_until:
                raise Unavailable(self._store, self._why)
            self._rests_until = now + self._rest_s
        try:
            async with asyncio.timeout(self._within_s):
                result = await action()
        except TimeoutError:
            self._failed(f"no answer within {self._within_s:g} s")
            raise Unavailable(self._store, self._why) from None
        except Unavailable as error:
            self._failed(error.detail)
            raise
        self._health.regained(self._store)
        self._failures = 0
        return result

    def _failed(self, why: str) -> None:
        self._why = why
        self._failures += 1
        if self.is_open:
            self._rests_until = self._monotonic() + self._rest_s
            self._health.miss(self._store, why)
