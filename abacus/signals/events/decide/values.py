"""From a JSON value to the value of a variable, of an id or of a time. Pure.

Messages come from strangers, so every size has a bound, and no value but one of the right type is taken.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

from abacus.core.ids import EVENT_ID_PATTERN, ID_PATTERN
from abacus.signals.events.decide.places import TimeFormat
from abacus.signals.events.types import Value, VariableType

MAX_TEXT: Final = 512  # characters
MAX_TEXTS: Final = 50
MAX_WHOLE_DIGITS: Final = 15  # of a decimal, before the point
MAX_FRACTION_DIGITS: Final = 8
SMALLEST_INTEGER: Final = -(2**63)
LARGEST_INTEGER: Final = 2**63 - 1

_FROM_YEAR: Final = 2000
_BEFORE_YEAR: Final = 2100
_FROM_S: Final = int(datetime(_FROM_YEAR, 1, 1, tzinfo=UTC).timestamp())
_BEFORE_S: Final = int(datetime(_BEFORE_YEAR, 1, 1, tzinfo=UTC).timestamp())
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MS: Final = 1000
_DECIMAL: Final = re.compile(rf"-?[0-9]{{1,{MAX_WHOLE_DIGITS}}}(?:\.[0-9]{{1,{MAX_FRACTION_DIGITS}}})?").fullmatch
_EXACT_DIGITS: Final = 15  # significant digits that every JSON number keeps on its way through a float
_EVENT_ID: Final = re.compile(EVENT_ID_PATTERN).match
_MEMBER_ID: Final = re.compile(ID_PATTERN).match

_DEGREES: Final = re.compile(r"-?[0-9]{1,3}(?:\.[0-9]{1,24})?").fullmatch
_NORTH_END: Final = 90
_EAST_END: Final = 180

_ZERO: Final = Decimal(0)

Reader = Callable[[object], Value]


class Wrong(Exception):
    """A value that is not what its place has to hold; as text: what it has to be."""


def read_type(value: object) -> str:
    """Of whatever type; the caller knows which types are taken."""
    if type(value) is not str:
        raise Wrong("not the type of an event")
    return value


def read_id(value: object) -> str:
    """The id of an event, or a part of it."""
    text = _digits(value) if type(value) is int else value
    if type(text) is not str or _EVENT_ID(text) is None:
        raise Wrong("not an id: 1 to 256 printable characters, or an integer")
    return text


def read_member_id(value: object) -> str:
    text = _digits(value) if type(value) is int else value
    if type(text) is not str or _MEMBER_ID(text) is None:
        raise Wrong("not the id of a member: 1 to 128 printable characters, or an integer")
    return text


def read_country(value: object) -> str:
    """As the source writes countries."""
    if type(value) is not str or _MEMBER_ID(value) is None:
        raise Wrong("not a country: 1 to 128 printable characters")
    return value


def read_text(value: object) -> str:
    if type(value) is not str or len(value) > MAX_TEXT or "\0" in value:
        raise Wrong(f"not a text of at most {MAX_TEXT} characters")
    return value


def read_integer(value: object) -> int:
    if type(value) is not int or not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
        raise Wrong("not an integer of 64 bits")
    return value


def read_decimal(value: object) -> Decimal:
    """A text of plain digits, or a number. A number has gone through a float, which keeps 15 digits."""
    text = value
    if type(value) is float:
        text = _written(value)
    elif type(value) is int:
        text = str(value) if abs(value) < 10**MAX_WHOLE_DIGITS else None
    if type(text) is not str or _DECIMAL(text) is None:
        raise Wrong(
            f"not a decimal: at most {MAX_WHOLE_DIGITS} digits before the point and {MAX_FRACTION_DIGITS} after it;"
            f" a number without quotes, {_EXACT_DIGITS} altogether"
        )
    return Decimal(text) or _ZERO


def read_boolean(value: object) -> bool:
    if type(value) is not bool:
        raise Wrong("not true or false")
    return value


def read_texts(value: object) -> tuple[str, ...]:
    if type(value) is not list or len(value) > MAX_TEXTS:
        raise Wrong(f"not an array of at most {MAX_TEXTS} texts")
    return tuple(map(read_text, value))


def read_latitude(value: object) -> float:
    """In degrees. No fault of coordinates says which they were."""
    degrees = _degrees(value)
    if degrees is None or not -_NORTH_END <= degrees <= _NORTH_END:
        raise Wrong(f"not a latitude: a number of degrees from -{_NORTH_END} to {_NORTH_END}")
    return degrees


def read_longitude(value: object) -> float:
    degrees = _degrees(value)
    if degrees is None or not -_EAST_END <= degrees <= _EAST_END:
        raise Wrong(f"not a longitude: a number of degrees from -{_EAST_END} to {_EAST_END}")
    return degrees


def read_regions(value: object) -> tuple[str, ...]:
    """The ids of regions, as Abacus itself writes them."""
    if type(value) is not list or not all(type(each) is str for each in value):
        raise Wrong("not an array of the ids of regions")
    return tuple(value)


def read_rfc3339(value: object) -> datetime:
    """In UTC."""
    if type(value) is str:
        try:
            moment = datetime.fromisoformat(value)
            # It reads more than RFC 3339 allows: days without dashes, or by weeks, and times of no zone.
            if value[7] == "-" and moment.tzinfo is not None:
                moment = moment.astimezone(UTC)
                if _FROM_YEAR <= moment.year < _BEFORE_YEAR:
                    return moment
        except (ValueError, OverflowError):
            pass
    raise Wrong("not a time like 2026-01-10T12:30:00+08:00, between the years 2000 and 2100")


def read_epoch_s(value: object) -> datetime:
    """In UTC."""
    if isinstance(value, int | float) and _FROM_S <= value < _BEFORE_S:
        return _EPOCH + timedelta(seconds=value)
    raise Wrong("not a time in seconds since 1970, between the years 2000 and 2100")


def read_epoch_ms(value: object) -> datetime:
    """In UTC."""
    if isinstance(value, int | float) and _FROM_S * _MS <= value < _BEFORE_S * _MS:
        return _EPOCH + timedelta(milliseconds=value)
    raise Wrong("not a time in milliseconds since 1970, between the years 2000 and 2100")


READERS: Final[Mapping[VariableType, Reader]] = {
    VariableType.TEXT: read_text,
    VariableType.INTEGER: read_integer,
    VariableType.DECIMAL: read_decimal,
    VariableType.BOOLEAN: read_boolean,
    VariableType.TIME: read_rfc3339,
    VariableType.TEXTS: read_texts,
}

TIMES: Final[Mapping[TimeFormat, Callable[[object], datetime]]] = {
    TimeFormat.RFC3339: read_rfc3339,
    TimeFormat.EPOCH_S: read_epoch_s,
    TimeFormat.EPOCH_MS: read_epoch_ms,
}


def _digits(value: int) -> str | None:
    return str(value) if SMALLEST_INTEGER <= value <= LARGEST_INTEGER else None


def _degrees(value: object) -> float | None:
    if type(value) is float or (type(value) is int and abs(value) <= _EAST_END):
        return float(value)
    return float(value) if type(value) is str and _DEGREES(value) is not None else None


def _written(value: float) -> str | None:
    """The number as it was written, if it has few enough digits to be sure of that."""
    text = repr(value)
    if len(text) <= _EXACT_DIGITS and "e" not in text and "n" not in text:
        return text
    if "e" in text or "n" in text:  # 1e-07, nan, inf
        try:
            text = format(Decimal(text), "f")
        except (ValueError, ArithmeticError):
            return None
    digits = text.lstrip("-0.").replace(".", "")
    return text if len(digits.rstrip("0")) <= _EXACT_DIGITS else None
