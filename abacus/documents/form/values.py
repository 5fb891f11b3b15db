"""Values as people see and type them. What cannot be read stays the text that was typed. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final
from zoneinfo import ZoneInfo

from abacus.documents.form.types import (
    Choice,
    Either,
    Entries,
    Fixed,
    Flag,
    Group,
    Moment,
    OneOf,
    Pick,
    Rows,
    Rule,
    Several,
    Sort,
    Table,
    Whole,
)

_MOST_DIGITS: Final = 18
_YES: Final[Mapping[str, bool]] = {"true": True, "yes": True, "false": False, "no": False}
COPIED: Final = "var."  # before the name of a variable that is copied


def shown(sort: Sort, value: object, zone: str = "UTC") -> str:
    """As a control has it; empty for no value."""
    match sort, value:
        case _, None:
            return ""
        case Moment(), _:
            at = _moment(value)
            return str(value) if at is None else _local(at, zone)
        case Several(), list() | tuple():
            return "\n".join(map(str, value))
        case _, bool():
            return "true" if value else "false"
        case _, datetime():
            return value.isoformat()
    return str(value)


def typed(sort: Sort, text: str, zone: str = "UTC") -> object:
    """What a document has for it. An empty text is no value: the caller knows whether the field goes."""
    match sort:
        case Whole():
            return _whole(text)
        case Flag():
            return _YES.get(text.lower(), text)
        case Fixed(value):
            return value
        case Moment():
            return _at(text, zone)
        case Several(of):
            chosen = text.split("\n")
            return [each.value for each in of.options if each.value in chosen]
    return text


def constant(type_: str, text: str, zone: str = "UTC") -> object:
    """A value of the type of a variable."""
    match type_:
        case "boolean":
            return _YES.get(text.lower(), text)
        case "integer":
            return _whole(text.removeprefix("-"), sign=-1) if text.startswith("-") else _whole(text)
        case "decimal":
            return _decimal(text)
        case "time":
            return _at(text, zone)
    return text


def fits(sort: Sort, value: object) -> bool:  # noqa: PLR0911  # a case for each sort
    """Whether a value has the shape of the sort, be it right or not."""
    match sort:
        case Group() | Entries() | Rule():
            return isinstance(value, Mapping)
        case Rows() | Several():
            return isinstance(value, list | tuple)
        case Choice(options):
            return value in [each.value for each in options]
        case Fixed(fixed):
            return value == fixed and type(value) is type(fixed)
        case Whole():
            return isinstance(value, int) and not isinstance(value, bool)
        case Flag():
            return isinstance(value, bool)
    return not isinstance(value, Mapping | list | tuple)


def of_either(either: Either, value: object) -> int | None:
    """The place of the sort that a value is of; None for no value."""
    if value is None:
        return None
    return next((place for place, (_, sort) in enumerate(either.sorts) if fits(sort, value)), 0)


def blank(sort: Sort) -> Any:  # noqa: C901, PLR0911  # a case for each sort
    """What stands in a document for a thing that was just added: its tables, with nothing in them."""
    match sort:
        case Group(fields):
            table: dict[str, Any] = {}
            for each in fields:
                for one in each.branches[0].fields if isinstance(each, OneOf) else [each]:
                    if isinstance(one.sort, Fixed) or (one.required and isinstance(one.sort, Group | Rows | Entries)):
                        table[one.name] = blank(one.sort)
            return table
        case Rows(of):
            return [blank(of)]
        case Entries(first=first, of=of):
            return {} if first is None else {first: blank(of)}
        case Either(sorts):
            return blank(sorts[0][1])
        case Rule():
            return {"operator": "eq", "lhs": ""}
        case Fixed(value):
            return value
        case Choice(options):
            return options[0].value
        case Several():
            return []
    return ""


def words(sort: Sort, value: object, listed: Mapping[str, str] | None = None) -> str:
    """A value as a sentence says it; `listed` has the words of a choice."""
    match sort, value:
        case _, None:
            return "none"
        case Choice(options), _:
            return next((each.words for each in options if each.value == value), str(value))
        case Several(of), list() | tuple():
            return ", ".join(words(of, each) for each in value)
        case Pick(), _ if listed and str(value) in listed:
            return listed[str(value)]
        case Moment(), _:
            at = _moment(value)
            return str(value) if at is None else at.isoformat(sep=" ", timespec="minutes")
    return plain_words(value)


def plain_words(value: object) -> str:  # noqa: PLR0911  # a case for each sort
    """A value of any sort in words."""
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case str():
            return value.partition("\n")[0]
        case datetime():
            return value.isoformat(sep=" ", timespec="minutes")
        case Mapping():
            return ", ".join(f"{name} {plain_words(each)}" for name, each in value.items())
        case list() | tuple():
            return ", ".join(map(plain_words, value))
    return str(value)


def zone_of(document: Table, named: str | None) -> str:
    """The zone that a field of the document names; UTC where it names none that there is."""
    name = document.get(named) if named is not None else None
    try:
        ZoneInfo(str(name or "UTC"))
    except (KeyError, ValueError, OSError):  # the first is of a zone that is not there
        return "UTC"
    return str(name or "UTC")


def split_title(text: str) -> tuple[str, str]:
    """The title and the body of a text."""
    title, _, body = text.partition("\n")
    return title, body


def joined_title(title: str, body: str) -> str:
    return f"{title}\n{body}" if body else title


def split_hours(text: str) -> tuple[str, str]:
    begin, _, end = text.partition("-")
    return begin, end


def lines_of(values: object) -> Sequence[object]:
    return values if isinstance(values, list | tuple) else () if values is None else (values,)


def _local(at: datetime, zone: str) -> str:
    local = at.astimezone(ZoneInfo(zone)) if at.utcoffset() is not None else at
    return local.strftime("%Y-%m-%dT%H:%M:%S" if local.second else "%Y-%m-%dT%H:%M")


def _moment(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _at(text: str, zone: str) -> object:
    at = _moment(text)
    if at is None:
        return text
    return at if at.utcoffset() is not None else at.replace(tzinfo=ZoneInfo(zone))


def _whole(text: str, sign: int = 1) -> object:
    digits = text.replace(",", "")
    if digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS:
        return sign * int(digits)
    return text if sign > 0 else f"-{text}"


def _decimal(text: str) -> str:
    try:
        return str(Decimal(text))
    except InvalidOperation:
        return text
