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
# Of a Parquet file. A list of different ids takes more than half a bit a row, however it is compressed.
_ROWS_ANYWAY: Final = 1_000_000
_ROWS_PER_BYTE: Final = 16
_MOST_BYTES: Final = 512 * 1024 * 1024  # in memory: of a row group's columns, and of a batch


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
    """Texts, whole numbers and days; the rows count from 1.

    Repeated values take no room in a file: one of 50 KB may have 20,000,000 rows, and one of 100 KB a column of texts
    of 10 GB. Such files are refused, the first before anything of it is read.
    """

    def __init__(self, path: Path, file: BinaryIO, choose: Choose) -> None:
        try:
            import pyarrow as pa  # noqa: PLC0415  # takes a while to load, and one command in a hundred needs it
            from pyarrow import compute, parquet  # noqa: PLC0415  # as above
        except ImportError as error:
            raise Refused(f"reading Parquet needs the package pyarrow ({error}); or export the file as CSV") from error
        self._path = path
        self._pa, self._compute = pa, compute
        try:
            metadata = parquet.read_metadata(file)
            schema = metadata.schema.to_arrow_schema()
            places = _chosen(path, choose, schema.names)
            self._columns = [schema.names[place] for place in places]
            self._check_size(path.stat().st_size, metadata)
            for name in self._columns:
                if pa.types.is_nested(schema.field(name).type):
                    raise Refused(f"{path}: the column {name!r} is {schema.field(name).type}; write texts or numbers")
            # Texts that are repeated stay so until the rows of a batch are known.
            self._file = parquet.ParquetFile(file, metadata=metadata, read_dictionary=self._columns)
        except pa.ArrowException as error:
            raise Refused(f"{path}: {error}") from error
        self.total = metadata.num_rows
        self.done = 0

    def __iter__(self) -> Iterator[Row | Unreadable]:
        try:
            for rows in self._file.iter_batches(batch_size=_ROWS, columns=self._columns, use_threads=False):
                columns = [self._values(rows.column(name), name) for name in self._columns]
                for values in zip(*columns, strict=True):
                    self.done += 1
                    yield Row(self.done, tuple(map(_text, values)))
        except (self._pa.ArrowException, OSError) as error:
            raise Refused(f"{self._path}: after row {self.done}: {error}") from error

    def _values(self, column: Any, name: str) -> list[Any]:
        """Raises `Refused` for texts that are too long to be a batch."""
        if self._pa.types.is_dictionary(column.type):
            longest = self._compute.max(self._compute.binary_length(column.dictionary)).as_py() or 0
            if longest * len(column) > _MOST_BYTES:
                where = f"{self._path}: after row {self.done}: the column {name!r}"
                raise Refused(
                    f"{where} has a text of {longest:,} bytes, and nothing that is read from a file is so long"
                )
            column = column.dictionary_decode()
        return list(column.to_pylist())

    def _check_size(self, size: int, metadata: Any) -> None:
        most = _ROWS_ANYWAY + _ROWS_PER_BYTE * size
        if metadata.num_rows > most:
            raise Refused(
                f"{self._path}: {metadata.num_rows:,} rows in {size:,} bytes are the same few over and over, and"
                f" {most:,} are read of so small a file; leave out what stands there twice, or export it as CSV"
            )
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            held = sum(
                chunk.total_uncompressed_size
                for chunk in map(group.column, range(group.num_columns))
                if chunk.path_in_schema in self._columns
            )
            if held > _MOST_BYTES:
                raise Refused(
                    f"{self._path}: a row group has {held:,} bytes in the columns that are read, of {_MOST_BYTES:,}"
                    " at most; write the file with smaller row groups"
                )


def _chosen(path: Path, choose: Choose, names: Sequence[str]) -> tuple[int, ...]:
    try:
        return choose(names)
    except Refused as error:
        raise Refused(f"{path}: {error}") from None


def _text(value: Any) -> str:
    return "" if value is None else str(value)
