"""The document that a command printed, as facts and tables for a page. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from abacus.core.csv_text import csv_text

MOST_ROWS: Final = 200  # of a table on a page; the whole of it is there as CSV
_AMOUNT: Final = re.compile(r"-?[0-9]+\.[0-9]+")
_ROWS: Final = "rows"  # what a report calls the whole of its data
Cell = str | int | float | bool | None


@dataclass(frozen=True)
class Fact:
    """A value that the document names."""

    name: str
    value: Cell


@dataclass(frozen=True)
class Column:
    """A column of a table, and whether it holds numbers, or words that are shown as badges."""

    name: str
    is_number: bool = False
    is_badge: bool = False


@dataclass(frozen=True)
class Table:
    """A list of the document: its first rows, and how many there are."""

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    all: int


def facts_of(document: Any) -> list[Fact]:
    """What is no list; of a mapping inside, each of its values under both names."""
    return [Fact(_words(name), value) for name, value in _scalars(document, ())]


def tables_of(document: Any) -> list[Table]:
    return [_table(name, rows) for name, rows in _lists(document).items() if rows]


def csv_of(document: Any, name: str) -> bytes | None:
    """The whole of a list; None where the document has no such list."""
    rows = _lists(document).get(name)
    if rows is None:
        return None
    names = _names(rows)
    return csv_text([names, *([_cell(row.get(each)) for each in names] for row in rows)]).encode()


def _table(name: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    names = _names(rows)
    columns = [Column(_words((each,)), all(_is_number(row.get(each)) for row in rows)) for each in names]
    shown = [[_cell(row.get(each)) for each in names] for row in rows[:MOST_ROWS]]
    return Table(name, _words((name,)), columns, shown, len(rows))


def _lists(document: Any) -> dict[str, list[Mapping[str, Any]]]:
    """The lists of the document by name; a document that is a list is its rows. Lists of plain values have one
    column.
    """
    found = {_ROWS: document} if isinstance(document, list) else document if isinstance(document, dict) else {}
    return {
        str(name): [each if isinstance(each, dict) else {str(name): each} for each in value]
        for name, value in found.items()
        if isinstance(value, list)
    }


def _scalars(value: Any, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Cell]]:
    match value:
        case dict():
            return [each for name, inner in value.items() for each in _scalars(inner, (*path, str(name)))]
        case list():
            return []
        case _:
            return [(path, value)] if path else []


def _names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(str(name) for row in rows for name in row))


def _cell(value: Any) -> Cell:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case dict():
            return ", ".join(f"{name} {_cell(inner)}" for name, inner in value.items())
        case list():
            return ", ".join(str(_cell(each)) for each in value)
        case _:
            return str(value)


def _is_number(value: Any) -> bool:
    """An amount of money is text, so that no digit of it is lost."""
    if isinstance(value, str):
        return _AMOUNT.fullmatch(value) is not None
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _words(path: tuple[str, ...]) -> str:
    return " ".join(path).replace("_", " ").capitalize()
