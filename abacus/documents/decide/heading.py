"""What documents that hold for a time say first: name, country, zone, and the times at which they hold. Pure."""

import re
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final, NamedTuple, Protocol
from zoneinfo import ZoneInfo

from abacus.core import fields
from abacus.core.fields import EARLIEST, Bad, Fields, quoted, string
from abacus.core.lengths import hours_text, read_hours

MAX_HOURS: Final = 10
MAX_ABOUT: Final = 500
NAME_PATTERN: Final = r"[a-z][a-z0-9_]{0,63}"
WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NO_DAYS: Final[frozenset[int]] = frozenset()
_NO_HOURS: Final[tuple[tuple[int, int], ...]] = ()


class Termed(Protocol):
    """A version with these fields."""

    @property
    def name(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def country(self) -> str: ...
    @property
    def timezone(self) -> str: ...
    @property
    def zone(self) -> ZoneInfo: ...
    @property
    def starts_at(self) -> datetime: ...
    @property
    def ends_at(self) -> datetime: ...


class Headed(Termed, Protocol):
    """A version that holds at some hours only. `weekdays` are numbered from Monday, 0; `hours` are minutes of the day,
    each from the first up to and without the second.
    """

    @property
    def approved_at(self) -> datetime: ...
    @property
    def weekdays(self) -> Collection[int]: ...
    @property
    def hours(self) -> Sequence[tuple[int, int]]: ...


class Term(NamedTuple):
    """What was read; by its names, the fields of the document's own type."""

    name: str
    about: str
    country: str
    timezone: str
    starts_at: datetime
    ends_at: datetime


class Heading(NamedTuple):
    """A term, and the hours at which it holds."""

    name: str
    about: str
    country: str
    timezone: str
    starts_at: datetime
    ends_at: datetime
    weekdays: frozenset[int]
    hours: tuple[tuple[int, int], ...]


def name_reader(example: str) -> Callable[[object], str]:
    remedy = "is not a name; write at most 64 small letters, digits and underscores, beginning with a letter"
    return fields.matching(re.compile(NAME_PATTERN), f"{remedy} ({example})")


def read_term(top: Fields, read_name: Callable[[object], str]) -> Term:
    return Term(
        name=top.read("name", read_name, ""),
        about=top.read_if_there("about", _about, ""),
        country=top.read("country", fields.country, ""),
        timezone=top.read("timezone", fields.time_zone, "UTC"),
        starts_at=top.read("starts_at", fields.moment, EARLIEST).astimezone(UTC),
        ends_at=top.read("ends_at", fields.moment, EARLIEST).astimezone(UTC),
    )


def read_heading(top: Fields, read_name: Callable[[object], str]) -> Heading:
    term = read_term(top, read_name)
    weekdays = top.read_if_there("weekdays", _weekdays, _NO_DAYS)
    return Heading(*term, weekdays, top.read_if_there("hours", _hours, _NO_HOURS))


def judge_times(top: Fields, term: Term | Heading, now: datetime) -> None:
    if {"starts_at", "ends_at"} <= top.values.keys():
        if term.ends_at <= term.starts_at:
            top.note("ends_at", "not after starts_at")
        elif term.ends_at <= now:
            top.note("ends_at", "is over already")


def term_document(version: Termed) -> dict[str, object]:
    """As `read_term` reads it."""
    document: dict[str, object] = {"name": version.name}
    if version.about:
        document["about"] = version.about
    return document | {
        "country": version.country,
        "timezone": version.timezone,
        "starts_at": version.starts_at.astimezone(version.zone).isoformat(),
        "ends_at": version.ends_at.astimezone(version.zone).isoformat(),
    }


def heading_document(version: Headed) -> dict[str, object]:
    """As `read_heading` reads it."""
    document = term_document(version)
    if version.weekdays:
        document["weekdays"] = [WEEKDAYS[day] for day in sorted(version.weekdays)]
    if version.hours:
        document["hours"] = [hours_text(each) for each in version.hours]
    return document


def runs_at(version: Headed, at: datetime) -> bool:
    """Whether the version holds at this moment: not before it was approved."""
    if not version.starts_at <= at < version.ends_at or at < version.approved_at:
        return False
    if not version.weekdays and not version.hours:
        return True
    local = at.astimezone(version.zone)
    if version.weekdays and local.weekday() not in version.weekdays:
        return False
    minute = local.hour * 60 + local.minute
    return not version.hours or any(begin <= minute < end for begin, end in version.hours)


def _about(value: object) -> str:
    text = string(value)
    if len(text) > MAX_ABOUT:
        raise Bad(f"{len(text)} characters; write at most {MAX_ABOUT}")
    return text


def _weekdays(value: object) -> frozenset[int]:
    if not isinstance(value, list | tuple) or not value:
        raise Bad(f"write an array of days, such as {list(WEEKDAYS[:2])}")
    days = [string(each) for each in value]
    for day in days:
        if day not in WEEKDAYS:
            raise Bad(f"{quoted(day)} is not a day; write {', '.join(WEEKDAYS)}")
    return frozenset(map(WEEKDAYS.index, days))


def _hours(value: object) -> tuple[tuple[int, int], ...]:
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MAX_HOURS:
        raise Bad(f'write an array of 1 to {MAX_HOURS} ranges, such as ["06:00-10:00"]')
    hours = sorted(map(read_hours, value))
    for (_, end), (begin, _) in pairwise(hours):
        if begin < end:
            raise Bad("two ranges overlap; write one")
    return tuple(hours)
