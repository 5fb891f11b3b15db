"""Lengths of time and hours of the day as documents write them: 90m, 2h, 7d; 17:00. Pure."""

import re
from datetime import time, timedelta
from typing import Final

from abacus.core.fields import Bad, quoted, string

LONGEST: Final = timedelta(days=366)
_UNITS: Final = {"s": timedelta(seconds=1), "m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
_LENGTH: Final = re.compile(r"([1-9][0-9]{0,6})([smhd])")
_CLOCK: Final = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")
_MIDNIGHT: Final = "24:00"
DAY_MINUTES: Final = 24 * 60


def read_length(value: object) -> timedelta:
    """Raises `Bad`."""
    text = string(value)
    match = _LENGTH.fullmatch(text)
    length = int(match[1]) * _UNITS[match[2]] if match else timedelta(0)
    if match is None or length > LONGEST:
        raise Bad(f"{quoted(text)} is not a length such as 90m, 2h or 7d, of at most {LONGEST.days} days")
    return length


def length_text(length: timedelta) -> str:
    """In the largest unit that fits."""
    for unit in reversed(_UNITS):
        if not length % _UNITS[unit]:
            return f"{length // _UNITS[unit]}{unit}"
    raise ValueError(f"{length} is no whole number of seconds")


def read_clock(value: object) -> time:
    """Raises `Bad`."""
    text = string(value)
    match = _CLOCK.fullmatch(text)
    if match is None:
        raise Bad(f"{quoted(text)} is not an hour of the day such as 17:00")
    return time(int(match[1]), int(match[2]))


def read_hours(value: object) -> tuple[int, int]:
    """Minutes of the day, from one up to and without the other: of 06:00-10:00. Raises `Bad`."""
    begin, dash, end = string(value).partition("-")
    if not dash:
        raise Bad(f"{quoted(string(value))} is not a range of hours such as 06:00-10:00")
    first = _minutes(read_clock(begin))
    after = DAY_MINUTES if end == _MIDNIGHT else _minutes(read_clock(end))
    if after <= first:
        raise Bad(f"{quoted(string(value))} ends before it begins; write two ranges, up to {_MIDNIGHT} and from 00:00")
    return first, after


def hours_text(hours: tuple[int, int]) -> str:
    """As `read_hours` reads it."""
    return "-".join(f"{minutes // 60:02}:{minutes % 60:02}" for minutes in hours)


def _minutes(clock: time) -> int:
    return clock.hour * 60 + clock.minute
