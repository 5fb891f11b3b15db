"""When members enter before their points expire. Pure."""

from datetime import date, datetime, time, timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from abacus.core.local_clock import moment_of

CAUGHT_UP: Final = timedelta(days=7)  # how far back a look goes, where none looked for a while
_DAY: Final = timedelta(days=1)


class Days(NamedTuple):
    """Days to whose end points are good, from the first to the last."""

    first: date
    last: date


def due_days(now: datetime, ahead: int, zone: ZoneInfo) -> Days:
    """The days of points for which members enter by now, some days ahead of the moment when they expire. Missed days
    of the last week are among them, as long as their points are good.
    """
    today = now.astimezone(zone).date()
    last = today + (ahead - 1) * _DAY
    return Days(max(today, last - CAUGHT_UP + _DAY), last)


def expires_at(day: date, zone: ZoneInfo) -> datetime:
    """The moment at which points expire that are good to the end of the day."""
    return moment_of(day + _DAY, time.min, zone)


def enters_at(day: date, ahead: int, zone: ZoneInfo) -> datetime:
    """The moment at which members enter for points that are good to the end of the day."""
    return moment_of(day + (1 - ahead) * _DAY, time.min, zone)
