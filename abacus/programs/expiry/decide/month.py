"""A month of the calendar, when it is over in a country, and the last day on which points are good. Pure."""

import re
from calendar import monthrange
from datetime import UTC, date, datetime, tzinfo
from functools import lru_cache
from typing import Final, NamedTuple

from abacus.core.errors import Refused

_WRITTEN: Final = re.compile(r"(20\d\d)-(0[1-9]|1[0-2])", re.ASCII)
_DECEMBER: Final = 12


class Month(NamedTuple):
    """Written 2026-07."""

    year: int
    number: int

    @classmethod
    def parse(cls, text: str) -> "Month":
        """Raises `Refused`."""
        match = _WRITTEN.fullmatch(text)
        if match is None:
            raise Refused(f"{text!r} is not a month; write it as 2026-07")
        return cls(int(match[1]), int(match[2]))

    @classmethod
    def of(cls, day: date) -> "Month":
        return cls(day.year, day.month)

    @classmethod
    def last_over(cls, now: datetime, zone: tzinfo) -> "Month":
        """The month before the present one, by the zone's clock."""
        return cls.of(now.astimezone(zone).date()).before

    @property
    def first_day(self) -> date:
        return date(self.year, self.number, 1)

    @property
    def last_day(self) -> date:
        return date(self.year, self.number, monthrange(self.year, self.number)[1])

    @property
    def before(self) -> "Month":
        return Month(self.year - 1, 12) if self.number == 1 else Month(self.year, self.number - 1)

    @property
    def after(self) -> "Month":
        return Month(self.year + 1, 1) if self.number == _DECEMBER else Month(self.year, self.number + 1)

    def over_at(self, zone: tzinfo) -> datetime:
        """The first moment of the next month, by the zone's clock."""
        following = self.after
        return datetime(following.year, following.number, 1, tzinfo=zone).astimezone(UTC)

    def is_over(self, now: datetime, zone: tzinfo) -> bool:
        return now >= self.over_at(zone)

    def __str__(self) -> str:
        return f"{self.year}-{self.number:02}"


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
