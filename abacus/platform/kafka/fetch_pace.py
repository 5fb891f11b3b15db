"""How long a broker waits for more messages before it answers: a moment while many come, and not at all while few do.

A reader that asks all the time gets a few messages each time, and each batch costs the same whatever is in it. So while
messages come quickly the broker gathers them; the first message after a quiet time is answered at once.
"""

import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from aiokafka import AIOKafkaConsumer

_MANY_PER_S: Final = 1_000.0
_LOOKED_AT_S: Final = 0.2


class Wait(NamedTuple):
    """The broker answers when there are so many bytes, and after so many milliseconds in any case."""

    min_bytes: int
    max_wait_ms: int


AT_ONCE: Final = Wait(1, 100)
GATHERED: Final = Wait(128 * 1024, 25)


class FetchPace:
    """Chooses by the messages of the last moments."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._since = monotonic()
        self._read = 0
        self.wait = AT_ONCE

    def read(self, messages: int) -> Wait:
        """So many messages came; how long to wait for the next."""
        self._read += messages
        elapsed = self._monotonic() - self._since
        if elapsed >= _LOOKED_AT_S:
            self.wait = GATHERED if self._read >= _MANY_PER_S * elapsed else AT_ONCE
            self._since, self._read = self._monotonic(), 0
        return self.wait


def apply(wait: Wait, consumer: Any) -> None:
    """From the next request on. A log that is no broker's answers as it does."""
    if not isinstance(consumer, AIOKafkaConsumer):
        return
    fetcher = consumer._fetcher  # noqa: SLF001  # there is no public way to change it while it runs
    if fetcher is not None:
        fetcher._fetch_min_bytes, fetcher._fetch_max_wait_ms = wait  # noqa: SLF001  # as above
