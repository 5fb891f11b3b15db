"""The members that a command names: in its line, in a file, or both; every fault told before anything is changed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import typer
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

from abacus.cli.terminal.progress import shown_progress
from abacus.cli.terminal.shell import EXIT_FAILED, counted, errors, print_json
from abacus.core.errors import Refused
from abacus.core.members import fault_of_member
from abacus.signals.segments.files import BadLine, member_ids, open_members
from abacus.signals.segments.member_files import Give, Lines, check, number
from abacus.signals.segments.types import NOBODY, Members

_SHOWN: Final = 10  # bad lines


class Wanted(NamedTuple):
    """Members of the command line, and of a file."""

    members: tuple[str, ...]
    file: Path | None
    column: str | None
    named: bool
    skip_bad: bool


class Found(NamedTuple):
    """The members by their numbers, and the bad lines of the file."""

    members: Members
    lines: Lines
    bad: list[BadLine]

    def document(self) -> dict[str, object]:
        return {"lines": self.lines.total, "bad": self.lines.bad, "faults": [each._asdict() for each in self.bad]}


def check_wanted(wanted: Wanted, *, as_json: bool) -> tuple[Lines, list[BadLine]]:
    """How many lines the file has, and the first bad ones. Raises `Refused` for faults of the command line, and ends
    the command at a file with bad lines, unless they are skipped.
    """
    if not wanted.members and wanted.file is None:
        raise Refused("name members, or a file with --file")
    for each in wanted.members:
        if (problem := fault_of_member(each)) is not None:
            raise Refused(problem)
    if wanted.file is None:
        return Lines(0, 0), []
    shown: list[BadLine] = []

    def tell(bad: BadLine) -> None:
        if len(shown) < _SHOWN:
            shown.append(bad)
            if not as_json:
                errors.print(str(bad), style="red")

    with open_members(wanted.file, wanted.column, named=wanted.named) as rows, _progress("checking") as progress:
        lines = check(member_ids(rows), tell, lambda: progress(rows.done / max(1, rows.total)))
    if lines.bad and not wanted.skip_bad:
        _refuse(lines, shown, as_json=as_json)
    return lines, shown


async def found(wanted: Wanted, checked: tuple[Lines, list[BadLine]], give: Give) -> Found:
    """The numbers of all. Raises `Refused` when the file is no longer as it was checked."""
    members = Members((await give(wanted.members)).values()) if wanted.members else NOBODY
    if wanted.file is not None:
        with open_members(wanted.file, wanted.column, named=wanted.named) as rows, _progress("loading") as progress:
            listed = member_ids(rows)
            members |= await number(listed, give, checked[0], lambda: progress(rows.done / max(1, rows.total)))
    return Found(members, *checked)


def _refuse(lines: Lines, shown: list[BadLine], *, as_json: bool) -> None:
    if as_json:
        print_json({"changed": False, **Found(NOBODY, lines, shown).document()})
    else:
        more = f" ({lines.bad - len(shown):,} more than shown)" if lines.bad > len(shown) else ""
        errors.print(
            f"abacus: {counted(lines.bad, 'bad line')} of {lines.total:,}{more};"
            " nothing is changed by a file with bad lines, unless with --skip-bad"
        )
    raise typer.Exit(EXIT_FAILED)


@contextmanager
def _progress(what: str) -> Iterator[Callable[[float], None]]:
    """Called with the part that is done."""
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with shown_progress(*columns) as progress:
        task = progress.add_task(what, total=1.0)
        yield lambda done: progress.update(task, completed=done)
