"""A breaker around a store: nobody waits for a store that does not answer."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from abacus.core.errors import Unavailable
from abacus.platform.health import Health
from abacus.platform.reading.decide.circuit import Circuit, Patience

Result = TypeVar("Result")

_USUAL: Final = Patience()


class Breaker:
    """Refuses calls while its circuit is open. The process's health tells while it is."""

    def __init__(
        self,
        store: str,
        patience: Patience = _USUAL,
        *,
        clock_s: Callable[[], float] = time.monotonic,
        health: Health | None = None,
    ) -> None:
        self._store = store
        self._circuit = Circuit(patience)
        self._clock_s = clock_s
        self._health = health or Health(())
        self._why = ""

    @property
    def is_open(self) -> bool:
        return self._circuit.is_open

    @property
    def failures(self) -> int:
        """Failures since the last answer."""
        return self._circuit.failures

    @property
    def why(self) -> str:
        """How the last call failed."""
        return self._why

    @property
    def rests_for_s(self) -> float:
        """How long no call is let through from now on."""
        return max(0.0, self._circuit.rests_until - self._clock_s()) if self.is_open else 0.0

    def lets_through(self) -> bool:
        """Whether a call may be made now. The caller makes it then, and says how it ended."""
        now = self._clock_s()
        if not self._circuit.may_ask(now):
            return False
        self._circuit = self._circuit.asked(now)
        return True

    def succeeded(self) -> None:
        self._circuit = self._circuit.succeeded()
        self._health.regained(self._store)

    def failed(self, why: str) -> None:
        self._why = why
        self._circuit = self._circuit.failed(self._clock_s())
        if self.is_open:
            self._health.miss(self._store, why)

    async def call(self, action: Callable[[], Awaitable[Result]], *, within_s: float) -> Result:
        """Raises `Unavailable` when the call fails so, takes longer, or is not made."""
        if not self.lets_through():
            raise Unavailable(self._store, self._why)
        try:
            async with asyncio.timeout(within_s):
                result = await action()
        except TimeoutError:
            self.failed(f"no answer within {within_s:g} s")
            raise Unavailable(self._store, self._why) from None
        except Unavailable as error:
            self.failed(error.detail)
            raise
        self.succeeded()
        return result
