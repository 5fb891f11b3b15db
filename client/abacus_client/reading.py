"""Reads JSON as frozen values, by the types of a dataclass. Unknown members of objects are ignored.

A field whose name would be a word of Python has an underscore behind it.
"""

import json
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any, Final, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints
from uuid import UUID

Value = TypeVar("Value")


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError("a decimal is needed") from None


_FROM_TEXT: Final[Mapping[Any, Callable[[str], object]]] = {
    UUID: UUID,
    Decimal: _decimal,
    date: date.fromisoformat,
    datetime: datetime.fromisoformat,
}


def read(kind: type[Value], content: bytes) -> Value:
    """The JSON as a value of this dataclass. Raises `ValueError` with the name of the wrong field."""
    try:
        document = json.loads(content)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return cast("Value", _read(kind, document, ""))


def _read(kind: Any, value: object, place: str) -> object:
    origin, inner = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return _dataclass(cast("type", kind), value, place)
    if origin in {Union, types.UnionType}:  # of None and a type, or of several that JSON tells apart
        kinds = [each for each in inner if each is not type(None)]
        chosen = next((each for each in kinds if type(value) is each), kinds[-1])
        return None if value is None else _read(chosen, value, place)
    if isinstance(kind, type) and issubclass(kind, tuple) and isinstance(value, list):
        return _row(kind, value, place)
    if origin is tuple and isinstance(value, list):
        return tuple(_read(inner[0], each, f"{place}/{index}") for index, each in enumerate(value))
    if kind in _FROM_TEXT and isinstance(value, str):
        return _from_text(kind, value, place)
    fits = value in inner if origin is Literal else type(value) is (dict if origin is Mapping else kind)
    if not fits:
        raise ValueError(f"{place or '/'}: {getattr(kind, '__name__', kind)} is needed")
    return value


def _dataclass(kind: type, value: object, place: str) -> object:
    if not isinstance(value, dict):
        raise ValueError(f"{place or '/'}: an object is needed")  # noqa: TRY004  # the answer is wrong, not the code
    values = {}
    for name, (type_, needed) in _fields(kind).items():
        member = name.rstrip("_")
        if member in value:
            values[name] = _read(type_, value[member], f"{place}/{member}")
        elif needed:
            raise ValueError(f"{place}/{member} is missing")
    return kind(**values)


def _row(kind: Callable[..., object], values: list[object], place: str) -> object:
    """A tuple with names, of a list with as many members."""
    hints = get_type_hints(kind)
    if len(values) != len(hints):
        raise ValueError(f"{place}: {len(hints)} members are needed")
    members = zip(hints.values(), values, strict=True)
    return kind(*(_read(type_, each, f"{place}/{index}") for index, (type_, each) in enumerate(members)))


def _from_text(kind: Any, text: str, place: str) -> object:
    try:
        return _FROM_TEXT[kind](text)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


@cache
def _fields(kind: type) -> Mapping[str, tuple[Any, bool]]:
    """The type of each field, and whether it has no default."""
    hints = get_type_hints(kind)
    return {
        each.name: (hints[each.name], each.default is MISSING and each.default_factory is MISSING)
        for each in fields(kind)
    }
