"""A report as rows with named, typed columns, independent of how it is printed. Pure."""

from collections.abc import Collection, Sequence
from datetime import date
from decimal import Decimal
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeAlias, get_args, get_type_hints

from abacus.core.csv_text import csv_text
from abacus.core.points import plain

Cell: TypeAlias = str | int | Decimal | date | None


class Column(NamedTuple):
    """A name, and the type of the cells that are not empty."""

    name: str
    type: type


class Sheet(NamedTuple):
    """A report, or one part of it."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def header(self) -> list[str]:
        return [column.name for column in self.columns]

    def documents(self) -> list[dict[str, Cell]]:
        return [dict(zip(self.header, row, strict=True)) for row in self.rows]


def sheet(
    name: str, title: str, kind: type[tuple[Any, ...]], rows: Sequence[tuple[Cell, ...]], without: Collection[str] = ()
) -> Sheet:
    """The sheet of named tuples of one type. Its annotations give the types of the columns; some columns may be left
    out.
    """
    types = {column: _type(hint) for column, hint in get_type_hints(kind).items()}
    kept = [(place, column) for place, column in enumerate(types) if column not in without]
    return Sheet(
        name,
        title,
        tuple(Column(column, types[column]) for _, column in kept),
        tuple(tuple(row[place] for place, _ in kept) for row in rows),
    )


def sheet_csv(data: Sheet) -> str:
    """The sheet as CSV, the first line naming the columns."""
    return csv_text(
        [data.header, *([plain(cell) if isinstance(cell, Decimal) else cell for cell in row] for row in data.rows)]
    )


def _type(hint: Any) -> type:
    if isinstance(hint, UnionType):
        (hint,) = (each for each in get_args(hint) if each is not NoneType)
    plain: type = hint
    return plain
