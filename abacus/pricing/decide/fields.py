"""Reading a document field by field and noting every fault with its path. Pure; `card` names the fields."""

import difflib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import StrEnum
from functools import cache
from typing import Final, NamedTuple, TypeVar
from zoneinfo import available_timezones

from abacus.core.errors import Refused
from abacus.core.ids import NAME_PATTERN
from abacus.core.points import MAX_POINTS, Multiplier, Points, Rounding, plain

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)

MAX_DIGITS: Final = 12  # before the point and after it: so any product stays within `core.points.EXACT`
EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(3000, 1, 1, tzinfo=UTC)
_NAME: Final = re.compile(NAME_PATTERN)
_DECIMAL: Final = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?")
_SHOWN: Final = 40  # of a faulty value that is longer, the message quotes this much
_PRINTABLE_BITS: Final = 1000  # Python refuses to write much longer integers as decimals


class Fault(NamedTuple):
    """One thing that is wrong with a card, and where."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


class CardFaults(Refused):
    """Every fault of a card at once, so that its author mends them in one go. As text: one fault a line."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults: Final = tuple(faults)
        super().__init__("\n".join(map(str, self.faults)))


class Bad(Exception):
    """The fault of one value; the table that holds the value knows its path."""


class Fields:
    """One table of the document.

    Faults are noted rather than raised. A field with a fault reads as its stand-in, which the caller must drop: where
    there are faults, there is no card.
    """

    def __init__(self, values: Mapping[str, object] | None, path: str, faults: list[Fault]) -> None:
        self.values = values or {}
        self._absent = values is None  # noted once already: its contents are not missed as well
        self._path = path
        self._faults = faults
        self._known: list[str] = []

    def note(self, name: str, message: str) -> None:
        self._faults.append(Fault(_join(self._path, name), message))

    def read(self, name: str, reader: Callable[[object], T], stand_in: T) -> T:
        self._known.append(name)
        if name in self.values:
            try:
                return reader(self.values[name])
            except Bad as bad:
                self.note(name, str(bad))
        elif not self._absent:
            self.note(name, "missing")
        return stand_in

    def read_if_there(self, name: str, reader: Callable[[object], T], default: T) -> T:
        self._known.append(name)
        return self.read(name, reader, default) if name in self.values else default

    def table(self, name: str, *, optional: bool = False) -> "Fields":
        if optional and name not in self.values:
            self._known.append(name)
            return Fields(None, name, self._faults)
        return Fields(self.read(name, _mapping, None), _join(self._path, name), self._faults)

    def entries(self, reader: Callable[[object], T], stand_in: T, *, may_be_empty: bool = False) -> dict[str, T]:
        """All fields of a table whose names are the author's choice."""
        if not (self.values or self._absent or may_be_empty):
            self._faults.append(Fault(self._path, "empty; write at least one entry"))
        return {name: self._entry(name, reader, stand_in) for name in self.values}

    def _entry(self, name: str, reader: Callable[[object], T], stand_in: T) -> T:
        if not is_name(name):
            self.note(name, "not a name; write at most 64 letters, digits, dots, dashes and underscores")
        value = self.values[name]
        if isinstance(value, Mapping) and value:
            dotted = json.dumps(f"{name}.{next(iter(value))}")
            self.note(name, f"a table; a name that holds a dot needs quotes: {dotted}")
            return stand_in
        return self.read(name, reader, stand_in)

    def refuse_unknown(self) -> None:
        """A field that no caller has read is a fault: most likely a slip of the pen."""
        for name in self.values:
            if name not in self._known:
                near = difflib.get_close_matches(name, self._known, n=1)
                self.note(name, f"unknown; did you mean {near[0]}?" if near else "unknown")


def is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def multiplier(value: object) -> Multiplier:
    if not isinstance(value, str):
        raise Bad(f"{_shown(value)}; {_as_string(value)}")
    match = _DECIMAL.fullmatch(value)
    if match is None:
        raise Bad(f'{_quoted(value)} is not a plain decimal number such as "1.5"')
    sign, whole_digits, fraction = match.groups(default="")
    if sign:
        raise Bad(f"{_quoted(value)} is negative")
    if len(whole_digits) > MAX_DIGITS or len(fraction) > MAX_DIGITS:
        raise Bad(f"{_quoted(value)} has more than {MAX_DIGITS} digits before or after the point")
    return Multiplier(Decimal(value))


def whole(lowest: int, highest: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise Bad(f"{_shown(value)}; write a whole number without quotes")
        if value < 0:
            raise Bad(f"{_number(value)} is negative")
        if not lowest <= value <= highest:
            raise Bad(f"{_number(value)} is not between {lowest} and {highest}")
        return value

    return read


def points(lowest: int) -> Callable[[object], Points]:
    read = whole(lowest, MAX_POINTS)
    return lambda value: Points(read(value))


def matching(pattern: re.Pattern[str], remedy: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        text = _string(value)
        if not pattern.fullmatch(text):
            raise Bad(f"{_quoted(text)} {remedy}")
        return text

    return read


def one_of(choices: type[E], what: str) -> Callable[[object], E]:
    def read(value: object) -> E:
        text = _string(value)
        if text not in list(choices):
            raise Bad(f"{_quoted(text)} is not {what}; write one of {', '.join(choices)}")
        return choices(text)

    return read


rounding: Final = one_of(Rounding, "a rounding")


def time_zone(value: object) -> str:
    name = _string(value)
    if name not in _zones():
        near = difflib.get_close_matches(name, _zones(), n=1)
        hint = f"did you mean {near[0]}?" if near else "write an IANA name such as Asia/Singapore"
        raise Bad(f"{_quoted(name)} is not a time zone; {hint}")
    return name


def moment(value: object) -> datetime:
    """A time with its offset: TOML has a type for it, JSON has text."""
    at = value
    if isinstance(value, str):
        try:
            at = datetime.fromisoformat(value)
        except ValueError:
            raise Bad(f"{_quoted(value)} is not a time such as 2026-01-01T00:00:00+08:00") from None
    if not isinstance(at, datetime):
        raise Bad(f"{_shown(value)}; write a time with its offset, such as 2026-01-01T00:00:00+08:00")
    if at.utcoffset() is None:
        raise Bad(f"{at.isoformat()} has no offset; add the local one, such as {at.isoformat()}+08:00")
    if not EARLIEST <= at < LATEST:
        raise Bad(f"{at.isoformat()} is not between the years {EARLIEST.year} and {LATEST.year}")
    return at


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise Bad(f"{_shown(value)}; write a string")
    return value


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise Bad(f"{_shown(value)}; write a table")
    return value


def _shown(value: object) -> str:
    """A value of the wrong type, and its type: "1.5 is a float". Tables and arrays are too long to repeat."""
    match value:
        case bool():
            shown = f"{str(value).lower()} is a boolean"
        case int():
            shown = f"{_number(value)} is an integer"
        case float():
            shown = f"{value!r} is a float"
        case str():
            shown = f"{_quoted(value)} is a string"
        case date() | time():
            shown = f"{value.isoformat()} is a {type(value).__name__}"
        case Mapping():
            shown = "a table"
        case _:
            shown = "null" if value is None else "an array"
    return shown


def _as_string(value: object) -> str:
    """The remedy for a multiplier without quotes: the number itself where that is a good one, else an example."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        text = plain(Decimal(value if isinstance(value, int) else repr(value)))
        with suppress(Bad):
            multiplier(text)
            return f'write it as a string, "{text}"'
    return 'write a multiplier as a string, such as "1.5"'


def _quoted(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


def _number(value: int) -> str:
    text = str(value) if value.bit_length() <= _PRINTABLE_BITS else hex(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _join(path: str, name: str) -> str:
    shown = name if is_name(name) else json.dumps(name[:_SHOWN])
    return f"{path}.{shown}" if path else shown
