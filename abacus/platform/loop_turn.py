"""Work that is done on the loop, and lets others go on before it has held them up for long."""

import asyncio
import time
from collections.abc import Callable
from typing import Final

_LONGEST_S: Final = 0.002


class LoopTurn:
    """A turn begins where it is made, and anew with each rest."""

    def __init__(self, longest_s: float = _LONGEST_S, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._longest_s = longest_s
        self._monotonic = monotonic
        self._until = monotonic() + longest_s

    async def rest(self) -> None:
        """Between two pieces of the work: others go on, where the turn has been long enough."""
        if self._monotonic() > self._until:
            await asyncio.sleep(0)
            self._until = self._monotonic() + self._longest_s
