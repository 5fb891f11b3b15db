"""Time as a parameter: decisions are given the time, edges ask a clock for it."""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells an edge the present time."""

    def now(self) -> datetime:
        """The present, with an offset."""
        ...


class SystemClock:
    """The computer's own clock, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)
