"""The members that a command names: in its line, in a file, or both; every fault told before anything is changed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from abacus.cli.terminal.answer import EXIT_FAILED, Answer, Aside, counted
from abacus.cli.terminal.known import check_member
from abacus.cli.terminal.progress import percents
from abacus.core.errors import Refused
from abacus.signals.segments.member_files import Lines, batches, check, member_ids, number, open_members
from abacus.signals.segments.types import NOBODY, BadLine, Give, Members

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

    @property
    def faults(self) -> list[Aside]:
        return [Aside(str(each), "red") for each in self.bad]


def check_wanted(wanted: Wanted) -> tuple[Lines, list[BadLine]]:
    """How many lines the file has, and the first bad ones. Raises `Refused` for faults of the command line."""
    if not wanted.members and wanted.file is None:
        raise Refused("name members, or a file with --file")
    for each in wanted.members:
        check_member(each)
    if wanted.file is None:
        return Lines(0, 0), []
    shown: list[BadLine] = []

    def tell(bad: BadLine) -> None:
        if len(shown) < _SHOWN:
            shown.append(bad)

    with open_members(wanted.file, wanted.column, named=wanted.named) as rows, _progress("checking") as progress:
        lines = check(member_ids(rows), tell, lambda: progress(rows.done / max(1, rows.total)))
    return lines, shown


def listed(wanted: Wanted, checked: tuple[Lines, list[BadLine]]) -> Iterator[Sequence[str]]:
    """The members, in batches. Raises `Refused` when the file is no longer as it was checked."""
    if wanted.members:
        yield wanted.members
    if wanted.file is not None:
        with open_members(wanted.file, wanted.column, named=wanted.named) as rows, _progress("loading") as progress:
            for batch in batches(member_ids(rows), checked[0]):
                yield batch
                progress(rows.done / max(1, rows.total))


async def found(wanted: Wanted, checked: tuple[Lines, list[BadLine]], give: Give) -> Found:
    """The numbers of all. Raises `Refused` when the file is no longer as it was checked."""
    members = Members((await give(wanted.members)).values()) if wanted.members else NOBODY
    if wanted.file is not None:
        with open_members(wanted.file, wanted.column, named=wanted.named) as rows, _progress("loading") as progress:
            listed = member_ids(rows)
            members |= await number(listed, give, checked[0], lambda: progress(rows.done / max(1, rows.total)))
    return Found(members, *checked)


def refusal(wanted: Wanted, checked: tuple[Lines, list[BadLine]]) -> Answer | None:
    """Of a file with bad lines, unless they are skipped."""
    lines, shown = checked
    if not lines.bad or wanted.skip_bad:
        return None
    nobody = Found(NOBODY, lines, shown)
    more = f" ({lines.bad - len(shown):,} more than shown)" if lines.bad > len(shown) else ""
    why = (
        f"abacus: {counted(lines.bad, 'bad line')} of {lines.total:,}{more};"
        " nothing is changed by a file with bad lines, unless with --skip-bad"
    )
    return Answer({"changed": False, **nobody.document()}, *nobody.faults, Aside(why), exit_code=EXIT_FAILED)


@contextmanager
def _progress(what: str) -> Iterator[Callable[[float], None]]:
    """Called with the part that is done."""
    with percents() as progress:
        task = progress.add_task(what, total=1.0)
        yield lambda done: progress.update(task, completed=done)
