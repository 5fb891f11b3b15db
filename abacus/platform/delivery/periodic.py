"""Periodic work of a deliverer between two rounds: counting waiting messages, deleting delivered ones."""

import time
from collections.abc import Awaitable, Callable


class Periodic:
    """An action that is due at once, and again so many seconds after it was done. A failed action stays due."""

    def __init__(self, action: Callable[[], Awaitable[None]], every_s: float) -> None:
        self._action = action
        self._every_s = every_s
        self._done_at = float("-inf")

    async def if_due(self) -> None:
        if time.monotonic() - self._done_at >= self._every_s:
            await self._action()
            self._done_at = time.monotonic()
