"""Files that a command names."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from abacus.core.csv_text import CsvWriter
from abacus.core.errors import Refused


@contextmanager
def usable(file: Path, option: str | None = None) -> Iterator[None]:
    """Raises `Refused`, which names the file and its option, where the machine cannot read or write it."""
    try:
        yield
    except OSError as error:
        named = f"{option}: {file}" if option else str(file)
        raise Refused(f"{named}: {error.strerror or error}") from error


@contextmanager
def csv_file(file: Path, header: Sequence[str], option: str) -> Iterator[CsvWriter]:
    """A new file of rows under their header. Raises `Refused`."""
    with usable(file, option), file.open("w", encoding="utf-8", errors="backslashreplace", newline="") as opened:
        rows = CsvWriter(opened)
        rows.row(header)
        yield rows
