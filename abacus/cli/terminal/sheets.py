"""How reports are printed: tables for people, JSON, CSV and Parquet for programs."""

import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import date
from decimal import Decimal
from inspect import Parameter
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final, NamedTuple

import typer

from abacus.cli.terminal.answer import EXIT_FAILED, Answer, Aside, Formats, Table, tell
from abacus.cli.terminal.progress import spinner
from abacus.cli.terminal.shell import pool
from abacus.core.errors import Refused
from abacus.oversight.reports.decide.sheet import Cell, Sheet, sheet_csv
from abacus.platform.postgres import Connection, snapshot
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.programs.expiry.decide.month import Month

_DIGITS: Final = 38  # of a decimal, the most that the format has


def write_parquet(sheet: Sheet, file: Path) -> None:
    """Write the sheet. Raises `Refused` if the file cannot be written."""
    import pyarrow as pa  # noqa: PLC0415  # takes a third of a second, which every other command would wait for
    from pyarrow import parquet  # noqa: PLC0415  # as above

    types: dict[type, Any] = {str: pa.string(), int: pa.int64(), date: pa.date32()}
    columns = list(zip(*sheet.rows, strict=True)) if sheet.rows else [()] * len(sheet.columns)
    fields = [
        (column.name, pa.decimal128(_DIGITS, _places(cells)) if column.type is Decimal else types[column.type])
        for column, cells in zip(sheet.columns, columns, strict=True)
    ]
    arrays = [pa.array(cells, kind) for cells, (_, kind) in zip(columns, fields, strict=True)]
    try:
        parquet.write_table(pa.table(arrays, schema=pa.schema(fields)), str(file))
    except OSError as error:
        raise Refused(f"--parquet: {' '.join(str(error).split())}") from None


def _places(cells: tuple[object, ...]) -> int:
    return max((-int(cell.as_tuple().exponent) for cell in cells if isinstance(cell, Decimal)), default=0)


Decimals = Annotated[int, typer.Option(min=0, max=6, help="Decimals of the currency, in amounts.")]

_AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")]
_ToParquet = Annotated[
    Path | None, typer.Option("--parquet", metavar="FILE", help="Write a Parquet file as well as the table.")
]


class Report(Answer):
    """Data with its description. CSV and Parquet hold the data alone; people see the tables, or the data if there are
    none. The error stream gets the asides and the fault, whatever the format; a fault ends the command with 1.
    """

    OPTIONS: ClassVar = [
        Parameter("as_csv", Parameter.KEYWORD_ONLY, default=False, annotation=_AsCsv),
        Parameter("parquet", Parameter.KEYWORD_ONLY, default=None, annotation=_ToParquet),
        *Answer.OPTIONS,
    ]

    def __init__(
        self,
        data: Sheet,
        about: Mapping[str, object] = MappingProxyType({}),
        tables: Sequence[Sheet] | None = None,
        *asides: Aside,
        fault: str | None = None,
    ) -> None:
        shown = [data] if tables is None else tables
        document = {**about, data.name: data.documents(), **{each.name: each.documents() for each in shown}}
        super().__init__(document, *(table_of(each) for each in shown if each.rows or each is data))
        self._data, self._asides, self._fault = data, asides, fault

    def print(self, formats: Formats) -> None:
        if formats.parquet is not None:
            write_parquet(self._data, formats.parquet)
        if formats.as_csv:
            sys.stdout.write(sheet_csv(self._data))
        else:
            super().print(formats)
        tell(*self._asides)
        if self._fault is not None:
            tell(Aside(f"abacus: {self._fault}"))
            raise typer.Exit(EXIT_FAILED)


class CsvReport(Report):
    """A report that has no Parquet."""

    OPTIONS: ClassVar = [each for each in Report.OPTIONS if each.name != "parquet"]


def table_of(each: Sheet) -> Table:
    names = [name.replace("_", " ") for name in each.header]
    return Table(each.title, names, [[_text(cell) for cell in row] for row in each.rows])


class SheetSource(NamedTuple):
    """A snapshot of the database, and the cards, by whose clocks it is read."""

    connection: Connection
    book: CardBook


@asynccontextmanager
async def reading(what: str) -> AsyncIterator[SheetSource]:
    """Open a snapshot to read a report from. On a terminal a spinner shows that the ledger is being read."""
    with spinner() as progress:
        progress.add_task(what, total=None)
        async with pool() as opened:
            book = CardBook(await CardStore(opened).all())
            async with snapshot(opened) as connection:
                yield SheetSource(connection, book)


def read_day(text: str, option: str, *, last: bool) -> date:
    """A day, or the first or last of a month. Raises `Refused`."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        pass
    try:
        month = Month.parse(text)
    except Refused:
        raise Refused(f"{option}: {text!r} is neither a day such as 2026-07-31 nor a month such as 2026-07") from None
    return month.last_day if last else month.first_day


def _text(cell: Cell) -> str:
    match cell:
        case None:
            return ""
        case int():
            return f"{cell:,}"
        case Decimal():
            return f"{cell:,f}"
        case _:
            return str(cell)
