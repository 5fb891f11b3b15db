"""Where the time of a signature comes from."""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Gives the present."""

    def now(self) -> datetime:
        """The present, with an offset."""
        ...


class SystemClock:
    """The computer's own clock, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)
