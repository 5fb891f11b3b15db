"""A JSON document as lines that a person can read. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FieldLine:
    """One value of a document by its place. `before` is that of the other document; None where it had none."""

    place: str
    value: str | None
    before: str | None = None
    changed: bool = False


def lines_of(document: Any) -> list[FieldLine]:
    return [FieldLine(place, value) for place, value in _leaves(document, "")]


def _leaves(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for name, each in value.items():
            yield from _leaves(each, f"{place}.{name}" if place else str(name))
    elif isinstance(value, list) and value:
        for number, each in enumerate(value, 1):
            yield from _leaves(each, f"{place}[{number}]")
    else:
        yield place or "value", _text(value)


def _text(value: Any) -> str:
    match value:
        case None | [] | {}:
            return "none"
        case bool():
            return "yes" if value else "no"
        case _:
            return str(value)
