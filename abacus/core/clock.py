"""Time as a parameter: decisions are given the time, edges ask a clock for it."""

from datetime import UTC, date, datetime, timedelta
from typing import Final, Protocol

CLOCKS_DIFFER_BY: Final = timedelta(minutes=5)  # the most by which a sender's clock may be ahead of ours


_FIRST_ZONE: Final = timedelta(hours=14)  # where a day begins first


class Clock(Protocol):
    """Tells an edge the present time."""

    def now(self) -> datetime:
        """The present, with an offset."""
        ...


def is_to_come(moment: datetime, now: datetime) -> bool:
    """Whether the moment is still to come, even by the clock of a sender that is ahead of ours."""
    return moment > now + CLOCKS_DIFFER_BY


def latest_day(now: datetime) -> date:
    """The last day that has begun anywhere."""
    return (now.astimezone(UTC) + _FIRST_ZONE).date()


class SystemClock:
    """The computer's own clock, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)
