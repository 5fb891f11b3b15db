"""Spans, moments and quiet hours as documents write them. Pure."""

import re
from datetime import timedelta
from typing import Final

from abacus.core import fields
from abacus.core.fields import Bad, Fields, quoted, string
from abacus.core.lengths import LONGEST, length_text, read_clock
from abacus.core.local_clock import QuietHours
from abacus.documents.decide.heading import WEEKDAYS
from abacus.engage.journeys.decide.moments import (
    COUNTRY,
    MEMBER,
    NO_TIME,
    After,
    NextClock,
    OfContext,
    Span,
    Until,
)

TIMES: Final = ("for", "at", "until")  # of which a wait has one
_UNITS: Final = {"s": timedelta(seconds=1), "m": timedelta(minutes=1), "h": timedelta(hours=1)}
_SPAN: Final = re.compile(r"([1-9][0-9]{0,6})([smhd])")
_CONTEXT: Final = "context."


def read_span(value: object) -> Span:
    """`2d` are two days of the calendar, `48h` are 48 hours. Raises `Bad`."""
    text = string(value)
    match = _SPAN.fullmatch(text)
    if match is None:
        raise Bad(f"{quoted(text)} is not a length such as 90m, 2h or 7d")
    number, unit = int(match[1]), match[2]
    span = Span(days=number) if unit == "d" else Span(elapsed=number * _UNITS[unit])
    if span.days > LONGEST.days or span.elapsed > LONGEST:
        raise Bad(f"{quoted(text)} is longer than {LONGEST.days} days")
    return span


def span_text(span: Span) -> str:
    """As `read_span` reads it: hours stay hours, however many."""
    if span.days:
        return f"{span.days}d"
    text = length_text(span.elapsed)
    return f"{span.elapsed // _UNITS['h']}h" if text.endswith("d") else text


def read_until(table: Fields) -> Until | None:
    """Nothing where it has a fault."""
    named = [name for name in TIMES if name in table.values]
    span = table.read_if_there("for", read_span, None)
    at = table.read_if_there("at", read_clock, None)
    weekday = table.read_if_there("weekday", _weekday, None)
    until = table.read_if_there("until", _field, None)
    shifts = {name: table.read_if_there(name, read_span, NO_TIME) for name in ("before", "after")}
    if len(named) != 1 and not table.is_absent:
        table.note("for", f"the wait has {len(named)} ends; write one of {', '.join(TIMES)}")
        return None
    if weekday is not None and "at" not in table.values:
        table.note("weekday", "without `at`; write the hour of that day too")
    if "until" not in table.values:
        for name in set(shifts) & table.values.keys():
            table.note(name, "without `until`; write the field of the context too")
    elif all(name in table.values for name in shifts):
        table.note("before", "beside `after`; write one of them")
    if span is not None:
        return After(span)
    if at is not None:
        return NextClock(at, weekday)
    if until is not None:
        before = "before" in table.values
        return OfContext(until, shifts["before" if before else "after"], before)
    return None


def until_document(until: Until) -> dict[str, object]:
    """As `read_until` reads it."""
    match until:
        case After(span):
            return {"for": span_text(span)}
        case NextClock(at, weekday):
            document: dict[str, object] = {"at": at.strftime("%H:%M")}
            return document if weekday is None else {"weekday": WEEKDAYS[weekday], **document}
        case OfContext(field, span, before):
            document = {"until": f"{_CONTEXT}{field}"}
            return document if span == NO_TIME else {**document, "before" if before else "after": span_text(span)}


def read_zone(value: object) -> str:
    """Raises `Bad`."""
    text = string(value)
    if text in {MEMBER, COUNTRY}:
        return text
    try:
        return fields.time_zone(text)
    except Bad as bad:
        raise Bad(f"{bad}; or {MEMBER}, or {COUNTRY}") from None


def read_quiet_hours(value: object) -> QuietHours:
    """Such as 21:00-08:00. Raises `Bad`."""
    begin, dash, end = string(value).partition("-")
    if not dash:
        raise Bad(f"{quoted(string(value))} is not a range of hours such as 21:00-08:00")
    quiet = QuietHours(read_clock(begin), read_clock(end))
    if quiet.begins == quiet.ends:
        raise Bad(f"{quoted(string(value))} is the whole day")
    return quiet


def _weekday(value: object) -> int:
    day = string(value)
    if day not in WEEKDAYS:
        raise Bad(f"{quoted(day)} is not a day; write {', '.join(WEEKDAYS)}")
    return WEEKDAYS.index(day)


def _field(value: object) -> str:
    text = string(value)
    if not text.startswith(_CONTEXT):
        raise Bad(f"{quoted(text)} is no field of the context, such as context.departs_at")
    return text.removeprefix(_CONTEXT)
