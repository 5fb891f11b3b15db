"""Files with rows of texts, as other systems export them: CSV as it streams by, Parquet a row group at a time."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, Protocol, TypeAlias

from abacus.core.csv_text import meant
from abacus.core.errors import Refused

_ROWS: Final = 5000


class Row(NamedTuple):
    """The values of the wanted columns. An empty cell is an empty text."""

    number: int
    values: tuple[str, ...]


class Unreadable(NamedTuple):
    """A row that cannot be read; the next row follows it."""

    number: int
    why: str


class Rows(Protocol):
    """A file's rows, and how far they are read: in bytes or in rows, whichever the file can tell."""

    total: int

    @property
    def done(self) -> int: ...

    def __iter__(self) -> Iterator[Row | Unreadable]: ...


# The places of the wanted columns in the names of all columns. Raises `Refused` when they are not what is wanted.
Choose: TypeAlias = Callable[[Sequence[str]], tuple[int, ...]]


@contextmanager
def open_table(path: Path, choose: Choose, *, named: bool = True) -> Iterator[Rows]:
    """The rows of a file, by the end of its name. A CSV file whose columns are not `named` has rows from its first line
    on, and that line is what `choose` gets; of an empty file, nothing.

    Raises `Refused` when the file cannot be read, and what `choose` raises, with the file's name before it.
    """
    with ExitStack() as stack:
        try:
            file = stack.enter_context(path.open("rb"))
            if path.suffix.lower() in {".parquet", ".pq"}:
                rows: Rows = _Parquet(path, file, choose)
            else:
                rows = _Csv(path, file, choose, named=named)
        except OSError as error:
            raise Refused(f"{path}: {error.strerror or error}") from error
        yield rows


class _Csv:
    """Comma-separated, in UTF-8."""

    def __init__(self, path: Path, file: BinaryIO, choose: Choose, *, named: bool) -> None:
        self.total = path.stat().st_size
        self._path = path
        self._file = file
        # Bytes that are not UTF-8 become a fault of their line, and reading goes on.
        text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
        self._reader = csv.reader(text, strict=True)
        try:
            first = next(self._reader)
        except StopIteration:
            _chosen(path, choose, ())
            raise Refused(f"{path}: it is empty") from None
        except csv.Error as error:
            raise Refused(f"{path}: line 1: {error}") from error
        self._width = len(first)
        self._places = _chosen(path, choose, first)
        self._first = None if named else first

    @property
    def done(self) -> int:
        return self._file.tell()

    def __iter__(self) -> Iterator[Row | Unreadable]:
        if self._first is not None:
            yield Row(1, tuple([meant(self._first[place]) for place in self._places]))
        while True:
            number = self._reader.line_num + 1
            try:
                fields = next(self._reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Unreadable(number, str(error))
                continue
            except OSError as error:
                raise Refused(f"{self._path}: after line {number}: {error.strerror or error}") from error
            if len(fields) == self._width:
                yield Row(number, tuple([meant(fields[place]) for place in self._places]))
            elif fields:
                yield Unreadable(number, f"{len(fields)} fields, and there are {self._width} columns")


class _Parquet:
    """Texts, whole numbers and days; the rows count from 1."""

    def __init__(self, path: Path, file: BinaryIO, choose: Choose) -> None:
        try:
            import pyarrow as pa  # noqa: PLC0415  # takes a while to load, and one command in a hundred needs it
            from pyarrow import parquet  # noqa: PLC0415  # as above
        except ImportError as error:
            raise Refused(f"reading Parquet needs the package pyarrow ({error}); or export the file as CSV") from error
        self._path = path
        self._broken = pa.ArrowException
        try:
            self._file = parquet.ParquetFile(file)
        except pa.ArrowException as error:
            raise Refused(f"{path}: {error}") from error
        names = self._file.schema_arrow.names
        self._columns = [names[place] for place in _chosen(path, choose, names)]
        self.total = self._file.metadata.num_rows
        self.done = 0

    def __iter__(self) -> Iterator[Row | Unreadable]:
        try:
            for rows in self._file.iter_batches(batch_size=_ROWS, columns=self._columns, use_threads=False):
                columns = [rows.column(name).to_pylist() for name in self._columns]
                for values in zip(*columns, strict=True):
                    self.done += 1
                    yield Row(self.done, tuple(map(_text, values)))
        except (self._broken, OSError) as error:
            raise Refused(f"{self._path}: after row {self.done}: {error}") from error


def _chosen(path: Path, choose: Choose, names: Sequence[str]) -> tuple[int, ...]:
    try:
        return choose(names)
    except Refused as error:
        raise Refused(f"{path}: {error}") from None


def _text(value: Any) -> str:
    return "" if value is None else str(value)
