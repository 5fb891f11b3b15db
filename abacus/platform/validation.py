"""Checks that all messages share: the times that they may name, and the words for a fault."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field, ValidationError
from pydantic_core import ErrorDetails

from abacus.core.errors import Reason, SetAside
from abacus.core.fields import Bad, time_zone

# Any business has its times in here; a year with five digits would break calendars further on.
FROM, BEFORE = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
DAYS_BEFORE = date(2110, 1, 1)  # points lapse later than they are given

_SHOWN = 80  # characters of a faulty value


def _written_out(value: object) -> object:
    """pydantic would also take a number of seconds, in a string too."""
    if isinstance(value, datetime) or (isinstance(value, str) and value[10:11] in {"T", "t", " "}):
        return value
    raise ValueError("a time like 2026-01-10T12:30:00+08:00 is needed")


def _day_written_out(value: object) -> object:
    if isinstance(value, date) or (isinstance(value, str) and len(value) == len("2026-07-31") and "-" in value):
        return value
    raise ValueError("a day like 2026-07-31 is needed")


def _known_zone(value: str) -> str:
    try:
        return time_zone(value)
    except Bad as bad:
        raise ValueError(str(bad)) from None


def _in_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


# Held in UTC, whatever offset it came with: pydantic's own zones make each later use of a time several times dearer.
Moment = Annotated[AwareDatetime, Field(ge=FROM, lt=BEFORE), BeforeValidator(_written_out), AfterValidator(_in_utc)]
# A name of the IANA.
Zone = Annotated[str, AfterValidator(_known_zone)]
Day = Annotated[date, Field(ge=FROM.date(), lt=DAYS_BEFORE), BeforeValidator(_day_written_out)]


def unreadable(what: str, error: ValidationError) -> SetAside:
    """The reason why an envelope cannot be read: no JSON, another version, or a wrong field."""
    kinds = {(fault["loc"], fault["type"]) for fault in faults_of(error)}
    if ((), "json_invalid") in kinds:
        reason = Reason.UNDECODABLE
    elif {(("v",), "literal_error"), (("v",), "missing")} & kinds:
        reason = Reason.UNSUPPORTED
    else:
        reason = Reason.INVALID
    return SetAside(reason, f"not {what}: {first_fault(error)}")


def first_fault(error: ValidationError, *, shown: bool = True) -> str:
    """The first fault with its path, with the value where that may be shown, and with the number of further faults."""
    faults = error.errors(include_url=False, include_context=False, include_input=True)
    first = faults[0]
    path = ".".join(str(part) for part in first["loc"])
    value = repr(first["input"])
    if len(value) > _SHOWN:
        value = f"{value[:_SHOWN]}…"
    given = f", not {value}" if shown and first["type"] != "missing" else ""
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{path + ': ' if path else ''}{words_of(first)}{given}{more}"


def words_of(fault: ErrorDetails) -> str:
    """The fault for people: no regular expression, and nothing of the library that found it."""
    if fault["type"] == "string_pattern_mismatch":
        return "a text of another form is needed"
    return fault["msg"].removeprefix("Value error, ")


def faults_of(error: ValidationError) -> Sequence[ErrorDetails]:
    """The faults without the values that are at fault, which may be as large as the message."""
    return error.errors(include_url=False, include_context=False, include_input=False)
