"""What a command answers: one document for a program, or lines and tables for a person."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, NamedTuple, NoReturn, Protocol, TypeAlias, TypeVar

import typer
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from abacus.cli.terminal.documents import text_of
from abacus.cli.terminal.layout import blocks, fits, visible
from abacus.core.errors import AbacusError, Absent, Refused, Unavailable

EXIT_FAILED: Final = 1
EXIT_REFUSED: Final = 2

Thing = TypeVar("Thing")
Columns: TypeAlias = Mapping[str, Callable[[Thing], object]]  # from a column's name to the reader of its cells

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")]


class PlainConsole(Console):
    """Prints data as it is: `:taxi:` is no picture and `[bold]` no style, and control characters are shown instead of
    obeyed.
    """

    def __init__(self, *, stderr: bool = False, soft_wrap: bool = False) -> None:
        super().__init__(stderr=stderr, soft_wrap=soft_wrap, highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(visible(text), **options)


console: Final = PlainConsole(soft_wrap=True)
errors: Final = PlainConsole(stderr=True, soft_wrap=True)


class Shown(Protocol):
    """A part of what a person reads."""

    def print(self) -> None: ...


class Line(NamedTuple):
    """A line, or several, of a colour."""

    text: str
    style: str

    def print(self) -> None:
        console.print(self.text, style=self.style)


class Aside(NamedTuple):
    """A line on the error stream: standard output is for what is to be used."""

    text: str
    style: str | None = None

    def print(self) -> None:
        errors.print(self.text, style=self.style)


class Raw(NamedTuple):
    """A text that a program reads, with its own line ends."""

    text: str

    def print(self) -> None:
        sys.stdout.write(self.text)


class Secret(NamedTuple):
    """A value that is shown this once, alone on standard output."""

    words: str
    value: str

    def print(self) -> None:
        errors.print(f"{self.words}:")
        console.print(self.value)


class Table(NamedTuple):
    """Rows under their title: a table if every cell fits in its line, else one row after the other."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]

    @classmethod
    def of(cls, title: str, things: Iterable[Thing], columns: Columns[Thing]) -> "Table":
        """A row for each thing, each cell read by its column."""
        return cls(title, list(columns), [[read(each) for read in columns.values()] for each in things])

    def print(self) -> None:
        console.print(self.title, style="bold")
        rows = [[_cell(value) for value in row] for row in self.rows]
        if not fits(self.columns, rows, console.width):
            for line in blocks(self.columns, rows) if rows else ["none"]:
                console.print(line)
            return
        grid = Grid()
        for column in self.columns:
            grid.add_column(column, no_wrap=True)
        for row in rows:
            grid.add_row(*row)
        console.print(grid, soft_wrap=False)


class Formats(NamedTuple):
    """The formats that are asked for in place of lines and tables, or beside them."""

    as_json: bool
    as_csv: bool = False
    parquet: Path | None = None

    def check(self) -> None:
        """Check the options, before the long work begins. Raises `Refused`."""
        if self.as_json and self.as_csv:
            raise Refused("--csv and --json: choose one")
        if self.parquet is not None and not self.parquet.absolute().parent.is_dir():
            raise Refused(f"--parquet: there is no directory {self.parquet.absolute().parent}")


class Answer:
    """What a command found, printed once, and how the command ends: by an error that is told after it, or a code."""

    OPTIONS: ClassVar[Sequence[Parameter]] = [
        Parameter("as_json", Parameter.KEYWORD_ONLY, default=False, annotation=AsJson)
    ]

    def __init__(
        self, document: object, *shown: str | Shown, error: AbacusError | None = None, exit_code: int = 0
    ) -> None:
        self._document = document
        self._shown = shown
        self._error = error
        self._exit_code = exit_code

    def print(self, formats: Formats) -> None:
        if formats.as_json:
            print_json(self._document)
        else:
            tell(*self._shown)
        if self._error is not None:
            fail(self._error)
        if self._exit_code:
            raise typer.Exit(self._exit_code)


def fail(error: AbacusError) -> NoReturn:
    """End the command with one line for the error, or one for each of its faults."""
    for line in getattr(error, "faults", None) or [error]:
        errors.print(f"abacus: {line}")
    raise typer.Exit(EXIT_FAILED if isinstance(error, Unavailable | Absent) else EXIT_REFUSED)


def tell(*parts: str | Shown) -> None:
    """Print what a person reads; a text is printed as it is."""
    for part in parts:
        if isinstance(part, str):
            console.print(part)
        else:
            part.print()


def print_json(document: object) -> None:
    """Print one document in one line."""
    sys.stdout.write(text_of(document) + "\n")
    sys.stdout.flush()


def counted(count: int, thing: str) -> str:
    """A number with its noun, such as "1 item" or "2,000 items"."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _cell(value: object) -> str:
    match value:
        case str():
            return value
        case None:
            return ""
        case int():
            return f"{value:,}"
        case datetime():
            return f"{value:%Y-%m-%d %H:%M}"
        case _:
            return str(value)
