"""Clock times of a zone as moments, and the hours of a day in which nobody is disturbed. Pure."""

from collections.abc import Collection
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

_DAY = timedelta(days=1)


def moment_of(day: date, clock: time, zone: ZoneInfo) -> datetime:
    """The moment, in UTC, at which the zone's clock shows this. A clock time that comes twice is the first of the two;
    one that a clock set forward skips is the first moment after the gap, also where the whole day is skipped.
    """
    wanted = datetime.combine(day, clock)
    before, after = (wanted.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if before.astimezone(zone).replace(tzinfo=None) == wanted:
        return before
    return _change(after, before, zone)


def _change(earlier: datetime, later: datetime, zone: ZoneInfo) -> datetime:
    """The second at which the zone's offset changes between two moments."""
    offset = earlier.astimezone(zone).utcoffset()
    seconds = int((later - earlier).total_seconds()) + 1
    low, high = 0, seconds
    while high - low > 1:
        middle = (low + high) // 2
        same = (earlier + timedelta(seconds=middle)).astimezone(zone).utcoffset() == offset
        low, high = (middle, high) if same else (low, middle)
    return (earlier + timedelta(seconds=high)).replace(microsecond=0)


class QuietHours(NamedTuple):
    """From the first clock time up to and without the second; past midnight where the second is the earlier one."""

    begins: time
    ends: time

    def over_at(self, at: datetime, zone: ZoneInfo) -> datetime:
        """The end of the quiet hours in which a moment lies; a moment outside them stays as it is."""
        today = at.astimezone(zone).date()
        to_morning = _DAY if self.ends <= self.begins else timedelta(0)
        for day in (today - _DAY, today, today + _DAY):  # a skipped day may end in quiet hours again
            end = moment_of(day + to_morning, self.ends, zone)
            if moment_of(day, self.begins, zone) <= at < end:
                at = end
        return at

    def with_(self, other: "QuietHours") -> "QuietHours":
        """Both in one, where they overlap or meet; else these."""
        if self.meets(other.begins):
            return self if self.meets(other.ends) else QuietHours(self.begins, other.ends)
        if other.meets(self.begins):
            return other if other.meets(self.ends) else QuietHours(other.begins, self.ends)
        return self

    def meets(self, clock: time) -> bool:
        """Whether a clock time is one of them, or their end."""
        if self.begins <= self.ends:
            return self.begins <= clock <= self.ends
        return clock >= self.begins or clock <= self.ends

    def __str__(self) -> str:
        return f"{self.begins:%H:%M}-{self.ends:%H:%M}"


def over_all_at(at: datetime, zone: ZoneInfo, hours: Collection[QuietHours]) -> datetime:
    """The first moment from this one on that lies in none of these quiet hours. Where they leave no time at all, it is
    the end of some of them.
    """
    for _ in hours:
        for each in hours:
            at = each.over_at(at, zone)
    return at
