"""Since when a dependency does not answer, as far as this process has asked it."""

from datetime import datetime, timedelta
from typing import Final

from abacus.core.clock import Clock

_FORGOTTEN_AFTER: Final = timedelta(minutes=2)  # without another failure


class Outages:
    """Dependencies that failed a moment ago."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._spans: dict[str, tuple[datetime, datetime]] = {}

    def failed(self, dependency: str) -> datetime:
        """Notes a failure; returns when the first of this row was."""
        now = self._clock.now()
        first, last = self._spans.get(dependency, (now, now))
        if now - last > _FORGOTTEN_AFTER:
            first = now
        self._spans[dependency] = (first, now)
        return first

    def back(self, dependency: str) -> None:
        self._spans.pop(dependency, None)
