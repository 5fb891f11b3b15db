"""Files with opening balances, line by line."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from abacus.platform.table_files import Row, Rows, open_table
from abacus.programs.opening.decide.line import BalanceLine, Fault, order_of


class Lines(Protocol):
    """A file's lines, and how far they are read: in bytes or in rows, whichever the file can tell."""

    @property
    def total(self) -> int: ...

    @property
    def done(self) -> int: ...

    def __iter__(self) -> Iterator[BalanceLine | Fault]:
        """A line that cannot be read is a fault; the next line follows it."""
        ...


@contextmanager
def opened(path: Path) -> Iterator[Lines]:
    """Raises `Refused` when the file cannot be read, or has other columns."""
    with open_table(path, order_of) as rows:
        yield _Lines(rows)


class _Lines:
    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    @property
    def total(self) -> int:
        return self._rows.total

    @property
    def done(self) -> int:
        return self._rows.done

    def __iter__(self) -> Iterator[BalanceLine | Fault]:
        for row in self._rows:
            yield BalanceLine(*row) if isinstance(row, Row) else Fault(row.number, "", row.why)
