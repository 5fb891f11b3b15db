"""Reading a document that a person wrote: field by field, noting every fault with its path."""

import difflib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, time
from enum import StrEnum
from functools import cache
from typing import Final, NamedTuple, Self, TypeVar
from zoneinfo import available_timezones

from abacus.core.errors import Refused
from abacus.core.ids import NAME_PATTERN

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)

EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(3000, 1, 1, tzinfo=UTC)
COUNTRY_PATTERN: Final = "[A-Z]{2}"
_NAME: Final = re.compile(NAME_PATTERN)
_SHOWN: Final = 40  # of a faulty value that is longer, the message quotes this much
_PRINTABLE_BITS: Final = 1000  # Python refuses to write much longer integers as decimals


class Fault(NamedTuple):
    """One thing that is wrong with a document, and where."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


class DocumentFaults(Refused):
    """Every fault of a document at once, so that its author mends them in one go. As text: one fault a line."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults: Final = tuple(faults)
        super().__init__("\n".join(map(str, self.faults)))

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        return type(self), (self.faults,)  # so that it can be sent from one process to another


class Bad(Exception):
    """The fault of one value; the table that holds the value knows its path."""


class Fields:
    """One table of the document.

    Faults are noted rather than raised. A field with a fault reads as its stand-in, which the caller must drop: where
    there are faults, there is no value.
    """

    __slots__ = ("_absent", "_faults", "_known", "_name", "_of", "values")

    def __init__(
        self, values: Mapping[str, object] | None, name: str, faults: list[Fault], of: "Fields | None" = None
    ) -> None:
        self.values = values or {}
        self._absent = values is None  # noted once already: its contents are not missed as well
        self._name = name  # in the table that it stands in, if any
        self._of = of
        self._faults = faults
        self._known: list[str] = []

    @property
    def is_absent(self) -> bool:
        """Whether there is no such table, which was noted where it is needed."""
        return self._absent

    def note(self, name: str, message: str) -> None:
        self._faults.append(Fault(self.path_of(name), message))

    def path_of(self, name: str) -> str:
        """The path of a field from the top of the document."""
        return _join(self._path(), name)

    def _path(self) -> str:
        return self._name if self._of is None else self._of.path_of(self._name)

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
        if name not in self.values:
            return default
        try:
            return reader(self.values[name])
        except Bad as bad:
            self.note(name, str(bad))
            return default

    def table(self, name: str, *, optional: bool = False) -> "Fields":
        if optional and name not in self.values:
            self._known.append(name)
            return Fields(None, name, self._faults)
        return Fields(self.read(name, mapping, None), name, self._faults, self)

    def pass_over(self, name: str) -> None:
        """The field is known, and read by somebody else."""
        self._known.append(name)

    def part(self, name: str, faults: list[Fault]) -> "Fields":
        """A document that has nothing but this field, if it is there, with faults of its own."""
        return Fields({name: self.values[name]} if name in self.values else {}, "", faults)

    def entry_table(self, name: str, place: int, values: object) -> "Fields":
        """One of the tables in the array of a field that was read."""
        return Fields(mapping(values), f"{self.path_of(name)}[{place}]", self._faults)

    def entries(self, reader: Callable[[object], T], stand_in: T, *, may_be_empty: bool = False) -> dict[str, T]:
        """All fields of a table whose names are the author's choice."""
        if not (self.values or self._absent or may_be_empty):
            self._faults.append(Fault(self._path(), "empty; write at least one entry"))
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

    def tables(self, name: Callable[[object], object], *, at_most: int) -> dict[str, "Fields"]:
        """All fields of a table whose names are the author's choice and whose values are tables."""
        if not self.values and not self._absent:
            self._faults.append(Fault(self._path(), "empty; write at least one entry"))
        return {each: self.table(each) for each in self.names(name, at_most=at_most)}

    def names(self, reader: Callable[[object], object], *, at_most: int) -> list[str]:
        """The names of all fields, where they are the author's choice; none where there are too many."""
        if len(self.values) > at_most:
            self._faults.append(Fault(self._path(), f"{len(self.values)} entries; write at most {at_most}"))
            return []
        for name in self.values:
            try:
                reader(name)
            except Bad as bad:
                self.note(name, str(bad))
        return list(self.values)

    def refuse_unknown(self) -> None:
        """A field that no caller has read is a fault: most likely a slip of the pen."""
        known = set(self._known)
        for name in self.values:
            if name not in known:
                near = difflib.get_close_matches(name, self._known, n=1)
                self.note(name, f"unknown; did you mean {near[0]}?" if near else "unknown")


def is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def whole(lowest: int, highest: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise Bad(f"{shown(value)}; write a whole number without quotes")
        if value < 0:
            raise Bad(f"{_number(value)} is negative")
        if not lowest <= value <= highest:
            raise Bad(f"{_number(value)} is not between {lowest} and {highest}")
        return value

    return read


def matching(pattern: re.Pattern[str], remedy: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        text = string(value)
        if not pattern.fullmatch(text):
            raise Bad(f"{quoted(text)} {remedy}")
        return text

    return read


country: Final = matching(re.compile(COUNTRY_PATTERN), "is not a country; write its two capitals (SG)")


def one_of(choices: type[E], what: str) -> Callable[[object], E]:
    by_text = {each.value: each for each in choices}

    def read(value: object) -> E:
        chosen = by_text.get(text := string(value))
        if chosen is None:
            raise Bad(f"{quoted(text)} is not {what}; write one of {', '.join(choices)}")
        return chosen

    return read


def flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise Bad(f"{shown(value)}; write true or false, without quotes")
    return value


def time_zone(value: object) -> str:
    name = string(value)
    if name not in _zones():
        near = difflib.get_close_matches(name, _zones(), n=1)
        hint = f"did you mean {near[0]}?" if near else "write an IANA name such as Asia/Singapore"
        raise Bad(f"{quoted(name)} is not a time zone; {hint}")
    return name


def moment(value: object) -> datetime:
    """A time with its offset: TOML has a type for it, JSON has text."""
    at = value
    if isinstance(value, str):
        try:
            at = datetime.fromisoformat(value)
        except ValueError:
            raise Bad(f"{quoted(value)} is not a time such as 2026-01-01T00:00:00+08:00") from None
    if not isinstance(at, datetime):
        raise Bad(f"{shown(value)}; write a time with its offset, such as 2026-01-01T00:00:00+08:00")
    if at.utcoffset() is None:
        raise Bad(f"{at.isoformat()} has no offset; add the local one, such as {at.isoformat()}+08:00")
    if not EARLIEST <= at < LATEST:
        raise Bad(f"{at.isoformat()} is not between the years {EARLIEST.year} and {LATEST.year}")
    return at


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def string(value: object) -> str:
    if not isinstance(value, str):
        raise Bad(f"{shown(value)}; write a string")
    return value


def mapping(value: object) -> Mapping[str, object]:
    if isinstance(value, dict) or isinstance(value, Mapping):  # noqa: SIM101  # the first is by far the quicker
        return value
    raise Bad(f"{shown(value)}; write a table")


def shown(value: object) -> str:
    """A value of the wrong type, and its type: "1.5 is a float". Tables and arrays are too long to repeat."""
    match value:
        case bool():
            words = f"{str(value).lower()} is a boolean"
        case int():
            words = f"{_number(value)} is an integer"
        case float():
            words = f"{value!r} is a float"
        case str():
            words = f"{quoted(value)} is a string"
        case date() | time():
            words = f"{value.isoformat()} is a {type(value).__name__}"
        case Mapping():
            words = "a table"
        case _:
            words = "null" if value is None else "an array"
    return words


def quoted(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


def _number(value: int) -> str:
    text = str(value) if value.bit_length() <= _PRINTABLE_BITS else hex(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _join(path: str, name: str) -> str:
    word = name if is_name(name) else json.dumps(name[:_SHOWN])
    return f"{path}.{word}" if path else word
