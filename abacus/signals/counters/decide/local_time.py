"""The hours and days of a time zone, in whole quarters of UTC. Pure.

A day begins at the first moment of its date, also where the clock skips midnight or shows it twice. An hour begins
where the clock shows a full hour, and where the clock is changed. So each hour lies within one day, and hours and days
cover all time, whatever the zone does. An offset that is no multiple of a quarter, as some zones had long ago, is
rounded up to one, and a change of the clock is moved back to the beginning of its quarter.
"""

from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from abacus.signals.counters.types import QUARTER_S

HOUR_S: Final = 3600
DAY_S: Final = 24 * HOUR_S
_PERIOD_S: Final = 400 * DAY_S
_MARGIN_S: Final = 4 * DAY_S  # so that no day or hour of a period reaches beyond what its stretches cover
_STEP_S: Final = 12 * HOUR_S  # no zone changes its clock twice in such a time
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Span(NamedTuple):
    """From a second since 1970 up to and without another."""

    begin: int
    end: int


class LocalSpans(NamedTuple):
    """The hour and the day that contain a quarter."""

    hour: Span
    day: Span


class _Stretch(NamedTuple):
    """A time of one offset from UTC."""

    begin: int
    end: int
    offset: int

    def date(self, at: int) -> int:
        """The number of the date that the clock shows."""
        return (at + self.offset) // DAY_S

    def midnight(self, date: int) -> int:
        return date * DAY_S - self.offset


@lru_cache(maxsize=20_000)
def spans_of(zone: ZoneInfo, quarter: int) -> LocalSpans:
    """The hour and the day that contain the quarter with this number since 1970."""
    at = quarter * QUARTER_S
    stretches, begins = _stretches(zone, at // _PERIOD_S)
    place = bisect_right(begins, at) - 1
    return LocalSpans(_hour(stretches[place], at), _day(stretches, place, at))


def _hour(stretch: _Stretch, at: int) -> Span:
    begin = at - (at + stretch.offset) % HOUR_S
    return Span(max(begin, stretch.begin), min(begin + HOUR_S, stretch.end))


def _day(stretches: tuple[_Stretch, ...], place: int, at: int) -> Span:
    """The date that counts is the latest that the clock has shown: a clock that is put back past midnight does not go
    back to the day before.
    """
    date = max(stretches[place].date(at), _last_date(stretches, place - 1))
    return Span(_begin_of(stretches, place, date), _begin_of(stretches, place, date + 1))


def _last_date(stretches: tuple[_Stretch, ...], place: int) -> int:
    """The date on the clock at the end of a stretch."""
    return stretches[place].date(stretches[place].end - 1)


def _begin_of(stretches: tuple[_Stretch, ...], place: int, date: int) -> int:
    """The first moment at which the clock shows this date or a later one, near a stretch."""
    while _last_date(stretches, place - 1) >= date:
        place -= 1
    while _last_date(stretches, place) < date:
        place += 1
    return max(stretches[place].begin, stretches[place].midnight(date))


@lru_cache(maxsize=4096)
def _stretches(zone: ZoneInfo, period: int) -> tuple[tuple[_Stretch, ...], list[int]]:
    """The stretches of a period with a margin on both sides, and where they begin."""
    begin, end = period * _PERIOD_S - _MARGIN_S, (period + 1) * _PERIOD_S + _MARGIN_S
    # One day more at either end is a stretch of its own, so that every moment of the period has neighbours.
    offsets = {begin - DAY_S: _offset(zone, begin), begin: _offset(zone, begin)}
    offsets |= _changes(zone, begin, end)
    offsets |= {end: _offset(zone, end)}
    begins = list(offsets)
    ends = [*begins[1:], end + DAY_S]
    return tuple(map(_Stretch, begins, ends, offsets.values())), begins


def _changes(zone: ZoneInfo, begin: int, end: int) -> dict[int, int]:
    """The changes of the offset between two moments: the quarter in which each happens, and the offset after it."""
    changes: dict[int, int] = {}
    offset = _offset(zone, begin)
    for at in range(begin, end, _STEP_S):
        if _offset(zone, at + _STEP_S) != offset:
            moment = _first_change(zone, at, at + _STEP_S)
            offset = _offset(zone, moment)
            changes[moment - moment % QUARTER_S] = offset
    return changes


def _first_change(zone: ZoneInfo, before: int, after: int) -> int:
    """The first second at which the offset is no more that of `before`."""
    offset = _offset(zone, before)
    while after - before > 1:
        middle = (before + after) // 2
        if _offset(zone, middle) == offset:
            before = middle
        else:
            after = middle
    return after


def _offset(zone: ZoneInfo, at: int) -> int:
    """Seconds ahead of UTC, in whole quarters."""
    seconds = int(((_EPOCH + timedelta(seconds=at)).astimezone(zone).utcoffset() or timedelta()).total_seconds())
    return -(-seconds // QUARTER_S) * QUARTER_S
