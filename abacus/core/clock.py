"""Time as a parameter: decisions are given the time, edges ask a clock for it."""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Where an edge gets the present from."""

    def now(self) -> datetime:
        """The present, with an offset."""
        ...


class SystemClock:
    """The computer's own clock, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class FixedClock:
    """A clock that is set by hand: for simulations and for jobs that are run as of a date."""

    def __init__(self, start: datetime) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def set(self, now: datetime) -> None:
        self._now = now
