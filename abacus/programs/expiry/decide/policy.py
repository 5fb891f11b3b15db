"""The last day on which points are still good, by the country's own calendar."""

from calendar import monthrange
from datetime import date, datetime, tzinfo
from functools import lru_cache
from typing import Final

_MID_MONTH: Final = frozenset(range(3, 27))  # on these days it is the same month everywhere


def last_good_day(occurred_at: datetime, zone: tzinfo, months: int) -> date:
    """The last day of the Nth month after the month in which the transaction took place, where it took place."""
    if occurred_at.day not in _MID_MONTH:
        occurred_at = occurred_at.astimezone(zone)
    return _last_day(occurred_at.year * 12 + occurred_at.month - 1 + months)


@lru_cache(maxsize=1024)
def _last_day(months_since_year_0: int) -> date:
    year, month = divmod(months_since_year_0, 12)
    return date(year, month + 1, monthrange(year, month + 1)[1])
