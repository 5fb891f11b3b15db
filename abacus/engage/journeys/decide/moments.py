"""The moments that waits end at, as documents name them. Pure values."""

from dataclasses import dataclass
from datetime import time, timedelta
from typing import Final, TypeAlias

MEMBER: Final = "member"  # the member's own zone, or the country's where the member has named none
COUNTRY: Final = "country"  # the zone of the journey


@dataclass(frozen=True, slots=True)
class Span:
    """Days of the calendar, or elapsed time; never both."""

    days: int = 0
    elapsed: timedelta = timedelta()


NO_TIME: Final = Span()


@dataclass(frozen=True, slots=True)
class After:
    """Some time after the member came to the node."""

    span: Span


@dataclass(frozen=True, slots=True)
class NextClock:
    """The next time at which the clock shows this, on any day or on a weekday, numbered from Monday, 0."""

    at: time
    weekday: int | None = None


@dataclass(frozen=True, slots=True)
class OfContext:
    """The time that a field of the context has, or some time before or after it. It is over at once where it has
    passed.
    """

    field: str
    span: Span = NO_TIME
    before: bool = False


Until: TypeAlias = After | NextClock | OfContext


def by_calendar(until: Until) -> bool:
    """Whether the end depends on a zone."""
    return isinstance(until, NextClock) or bool(until.span.days)
