"""What came in from a partner on a day, as the house books it: what it is for partners to compare. Pure.

It has what was awarded. Anything else moved nothing.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, NamedTuple

_SETTLED_AFTER: Final = timedelta(minutes=5)  # transactions of the day have ended by then, whichever clock they read


class InboundLine(NamedTuple):
    """The partner's id, its points, the house's points for them, and when these were awarded."""

    id: str
    points: int
    credit: int
    at: datetime


class InboundStatement(NamedTuple):
    """A day of UTC. Of a day that is `complete` the statement never changes."""

    programme: str
    day: date
    complete: bool
    lines: Sequence[InboundLine]

    @property
    def points(self) -> int:
        return sum(each.points for each in self.lines)

    @property
    def credit(self) -> int:
        return sum(each.credit for each in self.lines)


def bounds(day: date) -> tuple[datetime, datetime]:
    """The first moment of the day, and the first of the next."""
    begins = datetime.combine(day, time(), UTC)
    return begins, begins + timedelta(days=1)


def is_complete(day: date, now: datetime) -> bool:
    return now >= bounds(day)[1] + _SETTLED_AFTER
