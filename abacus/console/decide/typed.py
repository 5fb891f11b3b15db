"""What people type into fields, as documents have it; what cannot be read stays text, for its fault to name. Pure."""

from datetime import date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

_MOST_DIGITS: Final = 18
_YEARS: Final = range(1970, 2200)  # at the end of all dates no zone and no day later could be told


def whole(typed: str) -> int | str:
    return int(typed) if typed.isascii() and typed.isdecimal() and len(typed) <= _MOST_DIGITS else typed


def moment(typed: str) -> datetime | str:
    try:
        at = datetime.fromisoformat(typed)
    except ValueError:
        return typed
    return at if at.year in _YEARS else typed


def day(typed: str) -> date | None:
    try:
        found = date.fromisoformat(typed)
    except ValueError:
        return None
    return found if found.year in _YEARS else None


def local_moment(typed: str, zone: str) -> datetime | None:
    """A time, by the clock of the zone where it has no offset; None where it is no time."""
    at = moment(typed)
    if isinstance(at, str):
        return None
    return at if at.tzinfo is not None else at.replace(tzinfo=ZoneInfo(zone))


def exact_moment(typed: str) -> datetime | None:
    """A time with its offset, whose plus an address may have made a space; None where it is no such time."""
    at = moment(typed.replace(" ", "+"))
    return None if isinstance(at, str) or at.tzinfo is None else at


def midnight_of(typed: str, zone: str, *, later: int = 0) -> datetime | None:
    """When the day begins in the zone, or that many days later; None where it is no day."""
    found = day(typed)
    return None if found is None else datetime.combine(found + timedelta(days=later), time(), ZoneInfo(zone))


def number(typed: str, most: int) -> int | None:
    """A whole number, be it with commas; None where it is none, or more than `most`."""
    read = whole(typed.replace(",", ""))
    return read if isinstance(read, int) and read <= most else None
