"""A clock for tests."""

from datetime import datetime


class FixedClock:
    """Stands still until it is set."""

    def __init__(self, start: datetime) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def set(self, now: datetime) -> None:
        self._now = now
