"""Files of members, line by line."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, NamedTuple

from abacus.core.errors import Refused
from abacus.core.members import fault_of_member
from abacus.platform.table_files import Rows, Unreadable, open_table

COLUMN: Final = "member_id"


class BadLine(NamedTuple):
    """A line without the id of a member, and why."""

    line: int
    problem: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.problem}"


def open_members(path: Path, column: str | None = None, *, named: bool = True) -> AbstractContextManager[Rows]:
    """The column of a file that has members; the only one called `member_id` unless it is named. A file whose columns
    are not `named` has the members in its first. Raises `Refused` when the file cannot be read, or has no such column.
    """

    def place(names: Sequence[str]) -> tuple[int, ...]:
        if not names:
            return ()
        return (_place(column or COLUMN, names),) if named else (0,)

    return open_table(path, place, named=named)


def member_ids(rows: Rows) -> Iterator[str | BadLine]:
    """The members of a file, with a bad line wherever there is none."""
    for row in rows:
        if isinstance(row, Unreadable):
            yield BadLine(row.number, row.why)
        elif (problem := fault_of_member(row.values[0])) is not None:
            yield BadLine(row.number, problem)
        else:
            yield row.values[0]


def _place(column: str, names: Sequence[str]) -> int:
    places = [place for place, name in enumerate(names) if name.strip() == column]
    if len(places) == 1:
        return places[0]
    trouble = f"no column {column!r}" if not places else f"the column {column!r} stands there twice"
    raise Refused(f"{trouble}; name the column with --column, or say --no-header if the first line is a member already")
