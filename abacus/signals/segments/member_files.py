"""Files of members as sets of numbers: read twice, so that a file with a bad line gives nobody a number, and in
batches, so that a file may be larger than memory.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, NamedTuple

from pyroaring import BitMap

from abacus.core.errors import Refused
from abacus.core.members import fault_of_member
from abacus.platform.table_files import Rows, Unreadable, open_table
from abacus.signals.segments.types import COLUMN, BadLine, Give, Members


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


BATCH: Final = 20_000  # members whose numbers are given in one transaction


class Lines(NamedTuple):
    """How many lines a file has, and how many of them are bad."""

    total: int
    bad: int


def check(members: Iterable[str | BadLine], tell: Callable[[BadLine], None], tick: Callable[[], None]) -> Lines:
    """Read all lines and tell of each bad one."""
    total = bad = 0
    for each in members:
        total += 1
        if isinstance(each, BadLine):
            bad += 1
            tell(each)
        if total % BATCH == 0:
            tick()
    return Lines(total, bad)


def batches(members: Iterable[str | BadLine], checked: Lines) -> Iterator[Sequence[str]]:
    """The members, each once in a batch, the bad lines left out. Raises `Refused` when the file is not as it was
    checked, before the last batch.
    """
    batch, total, bad = dict[str, None](), 0, 0
    for each in members:
        total += 1
        if isinstance(each, BadLine):
            bad += 1
            continue
        batch[each] = None
        if len(batch) == BATCH:
            yield list(batch)
            batch.clear()
    if (total, bad) != checked:
        raise Refused("the file was changed while it was read; do it again")
    yield list(batch)


async def number(members: Iterable[str | BadLine], give: Give, checked: Lines, tick: Callable[[], None]) -> Members:
    """The numbers of the members. Raises `Refused` when the file is not as it was checked."""
    numbers = BitMap()
    for batch in batches(members, checked):
        numbers |= BitMap((await give(batch)).values())
        if len(batch) == BATCH:
            tick()
    numbers.run_optimize()
    return Members(numbers)
