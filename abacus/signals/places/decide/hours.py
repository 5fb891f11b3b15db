"""When places are open: a part of OpenStreetMap's opening hours, by the clock of the place. Pure.

Rules stand one behind the other, `Mo-Fr 09:00-18:00; Sa 10:00-14:00; PH off`, and a later rule takes the place of an
earlier one on its days. A day without a rule is closed, and a holiday without a rule is the day of the week that it is.
What is open over midnight belongs to the day on which it opened. Clocks that are set change nothing: what the door says
holds by the clock on the wall.
"""

import re
from collections.abc import Container, Iterator
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from abacus.core.fields import Bad, quoted
from abacus.core.lengths import DAY_MINUTES

LONGEST: Final = 200  # characters
_KEPT: Final = 20_000  # texts: many places have the same hours

Span: TypeAlias = tuple[int, int]  # minutes from midnight on, up to and without the second; over midnight beyond 24:00

_DAYS: Final = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
_HOLIDAY: Final = "PH"
_WEEK: Final = len(_DAYS)
_CLOSED: Final = frozenset({"off", "closed"})
_WHOLE_DAY: Final[tuple[Span, ...]] = ((0, DAY_MINUTES),)
_ONE_DAY: Final = timedelta(days=1)

_SPACES: Final = re.compile(r"\s*([,;-])\s*")
_RULE: Final = re.compile(r"(?:(?P<days>[A-Za-z][A-Za-z,-]*) )?(?P<times>[0-9][0-9:,-]*|off|closed|24/7)")
_SPAN: Final = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])-([0-4][0-9]):([0-5][0-9])")
_EXAMPLE: Final = "Mo-Fr 09:00-18:00; Sa 10:00-14:00; PH off"


class Hours(NamedTuple):
    """The spans of each day from Monday on, and of holidays where a rule names these."""

    days: tuple[tuple[Span, ...], ...]
    holidays: tuple[Span, ...] | None

    def spans(self, day: date, holidays: Container[date]) -> tuple[Span, ...]:
        if self.holidays is not None and day in holidays:
            return self.holidays
        return self.days[day.weekday()]


def is_open(hours: Hours, at: datetime, holidays: Container[date] = ()) -> bool:
    """At a moment by the clock of the place."""
    today, minute = at.date(), at.hour * 60 + at.minute
    if any(begin <= minute < end for begin, end in hours.spans(today, holidays)):
        return True
    minute += DAY_MINUTES
    return any(minute < end for _, end in hours.spans(today - _ONE_DAY, holidays))


@lru_cache(maxsize=_KEPT)
def parse_hours(text: str) -> Hours:
    """Raises `Bad`, which names the rule that cannot be read."""
    if len(text) > LONGEST:
        raise Bad(f"{quoted(text)} has {len(text)} characters; write at most {LONGEST}")
    days: list[tuple[Span, ...]] = [()] * _WEEK
    holidays: tuple[Span, ...] | None = None
    for rule in _SPACES.sub(r"\1", text.strip()).split(";"):
        match = _RULE.fullmatch(rule)
        if match is None:
            raise Bad(f"{quoted(rule)} is no rule of opening hours; write days and times, such as {_EXAMPLE}")
        named = list(_days(match["days"]))
        spans = _spans(match["times"])
        for place in named:
            if place == _WEEK:
                holidays = spans
            else:
                days[place] = spans
    return Hours(tuple(days), holidays)


def _days(text: str | None) -> Iterator[int]:
    """The places of the days that a rule names; that of holidays is behind Sunday's."""
    if text is None:
        yield from range(_WEEK)
        return
    for part in text.split(","):
        if part == _HOLIDAY:
            yield _WEEK
            continue
        first, dash, last = part.partition("-")
        if first not in _DAYS or (dash and last not in _DAYS):
            raise Bad(f"{quoted(part)} is no day; write {', '.join(_DAYS)} or {_HOLIDAY}, or days such as Mo-Fr")
        begin = _DAYS.index(first)
        count = (_DAYS.index(last) - begin) % _WEEK if dash else 0
        yield from ((begin + each) % _WEEK for each in range(count + 1))


def _spans(text: str) -> tuple[Span, ...]:
    if text in _CLOSED:
        return ()
    return _WHOLE_DAY if text == "24/7" else tuple(map(_span, text.split(",")))


def _span(text: str) -> Span:
    match = _SPAN.fullmatch(text)
    if match is None:
        raise Bad(f"{quoted(text)} is no span of a day; write two clock times, such as 09:00-18:00 or 22:00-02:00")
    hour, minute, end_hour, end_minute = map(int, match.groups())
    begin, end = hour * 60 + minute, end_hour * 60 + end_minute
    if end < begin:
        end += DAY_MINUTES
    if not begin < end <= begin + DAY_MINUTES:
        raise Bad(f"{quoted(text)} is no span of a day; one that is open all day is 00:00-24:00")
    return begin, end
