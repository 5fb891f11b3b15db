"""The commands that look at segments."""

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from abacus.cli.terminal.answer import EXIT_FAILED, Answer, Columns, Table, counted
from abacus.cli.terminal.files import usable
from abacus.cli.terminal.known import check_member
from abacus.cli.terminal.shell import pool, settings
from abacus.core.clock import SystemClock
from abacus.core.csv_text import CsvWriter
from abacus.platform.postgres import Pool
from abacus.signals.segments.desk import SegmentDesk
from abacus.signals.segments.types import COLUMN, Segment

Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False)]
Label = Annotated[str, typer.Argument(metavar="NAME[@N]", show_default=False)]

_NAME: Final[Columns[Segment]] = {"name": lambda each: each.name}
_VERSION: Final[Columns[Segment]] = {
    "version": lambda each: str(each.version),
    "country": lambda each: each.country or "all",
    "size": lambda each: each.size,
    "how": lambda each: each.how,
    "created": lambda each: each.created_at.isoformat(timespec="seconds"),
    "by": lambda each: each.created_by,
}
_PAGE: Final = 20_000  # members read at once


async def list_segments() -> Answer:
    """List the segments."""
    async with pool() as connections:
        segments = await _desk(connections).all()
    return Answer([_document(each) for each in segments], Table.of("Segments", segments, {**_NAME, **_VERSION}))


async def show_segment(
    name: Name,
    members: Annotated[int, typer.Option(min=0, max=1000, help="How many of its members to print, too.")] = 0,
) -> Answer:
    """Show a segment with the versions of it that are kept."""
    async with pool() as connections:
        desk = _desk(connections)
        history = await desk.history(name)
        shown: list[str] = []
        if members and not history[0].dropped:
            async for page in desk.pages(name, _PAGE):
                shown += page.members
                if len(shown) >= members:
                    break
        shown = shown[:members]
    return Answer(
        {"name": name, "versions": [_document(each) for each in history], "members": shown},
        Table.of(name, history, _VERSION),
        *shown,
    )


async def has_member(
    label: Label, member: Annotated[str, typer.Argument(metavar="MEMBER", show_default=False)]
) -> Answer:
    """Say whether a member is in a segment. Exit 1 when not."""
    check_member(member)
    async with pool() as connections:
        segment, is_in = await _desk(connections).has(label, member)
    return Answer(
        {"name": segment.name, "version": segment.version, "member_id": member, "has": is_in},
        f"{member} is {'' if is_in else 'not '}in {segment.label}",
        exit_code=EXIT_FAILED if not is_in else 0,
    )


async def export_segment(
    label: Label, file: Annotated[Path, typer.Argument(metavar="FILE.csv", show_default=False)]
) -> Answer:
    """Write the members of a segment into a file that `load` can read. The file must not be there yet."""
    settings()
    async with pool() as connections:
        desk = _desk(connections)
        segment = await desk.version(label)
        with usable(file), file.open("x", encoding="utf-8", newline="") as opened:
            written = await _write(CsvWriter(opened), desk, segment)
    return Answer(
        {"name": segment.name, "version": segment.version, "file": str(file), "members": written},
        f"{file} has {counted(written, 'member')} of {segment.label}",
    )


async def _write(rows: CsvWriter, desk: SegmentDesk, segment: Segment) -> int:
    """How many were written: members that were erased are left out."""
    rows.row([COLUMN])
    written = 0
    async for page in desk.pages(segment.label, _PAGE):
        rows.rows([each] for each in page.members)
        written += len(page.members)
    return written


def _desk(connections: Pool) -> SegmentDesk:
    return SegmentDesk(connections, SystemClock())


def _document(segment: Segment) -> dict[str, Any]:
    return {
        "name": segment.name,
        "version": segment.version,
        "country": segment.country,
        "size": segment.size,
        "how": segment.how,
        "created": segment.created_at,
        "by": segment.created_by,
    }
