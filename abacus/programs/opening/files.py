"""Files with opening balances, line by line: CSV as it streams by, Parquet a row group at a time."""

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

from abacus.core.errors import Refused
from abacus.programs.opening.decide.line import COLUMNS, Fault, Line, order_of

_ROWS: Final = 5000


class Lines(Protocol):
    """A file's lines, and how far they are read: in bytes or in rows, whichever the file can tell."""

    total: int

    @property
    def done(self) -> int: ...

    def __iter__(self) -> Iterator[Line | Fault]:
        """A line that cannot be read is a fault; the next line follows it."""
        ...


@contextmanager
def opened(path: Path) -> Iterator[Lines]:
    """Raises `Refused` when the file cannot be read, or has other columns."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(path.open("rb"))
            lines = _Parquet(path, file) if path.suffix.lower() in {".parquet", ".pq"} else _Csv(path, file)
        except OSError as error:
            raise Refused(f"{path}: {error.strerror or error}") from error
        yield lines


class _Csv:
    """Comma-separated, in UTF-8, the first line naming the columns."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.total = path.stat().st_size
        self._path = path
        self._file = file
        # Bytes that are not UTF-8 become a fault of their line, and reading goes on.
        text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
        self._reader = csv.reader(text, strict=True)
        try:
            header = next(self._reader)
        except StopIteration:
            raise Refused(f"{path} is empty; the first line has to name {', '.join(COLUMNS)}") from None
        except csv.Error as error:
            raise Refused(f"{path}: line 1: {error}") from error
        self._width = len(header)
        self._order = _order(path, header)

    @property
    def done(self) -> int:
        return self._file.tell()

    def __iter__(self) -> Iterator[Line | Fault]:
        while True:
            number = self._reader.line_num + 1
            try:
                fields = next(self._reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Fault(number, "", str(error))
                continue
            except OSError as error:
                raise Refused(f"{self._path}: after line {number}: {error.strerror or error}") from error
            if len(fields) == self._width:
                yield Line(number, tuple([fields[place] for place in self._order]))
            elif fields:
                yield Fault(number, "", f"{len(fields)} fields, and there are {self._width} columns")


class _Parquet:
    """Texts, whole numbers and days; the rows count from 1."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
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
        _order(path, self._file.schema_arrow.names)
        self.total = self._file.metadata.num_rows
        self.done = 0

    def __iter__(self) -> Iterator[Line | Fault]:
        try:
            for rows in self._file.iter_batches(batch_size=_ROWS, columns=list(COLUMNS), use_threads=False):
                columns = [rows.column(name).to_pylist() for name in COLUMNS]
                for values in zip(*columns, strict=True):
                    self.done += 1
                    yield Line(self.done, tuple(map(_text, values)))
        except (self._broken, OSError) as error:
            raise Refused(f"{self._path}: after row {self.done}: {error}") from error


def _order(path: Path, header: Sequence[str]) -> tuple[int, ...]:
    try:
        return order_of(header)
    except Refused as error:
        raise Refused(f"{path}: {error}") from None


def _text(value: Any) -> str:
    return "" if value is None else str(value)
