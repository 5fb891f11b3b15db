"""The commands that change segments: each makes a version, and writes an entry of the log with it."""

import sys
from typing import Annotated, Any

import typer

from abacus.cli.segments.segment_files import Found, Wanted, check_wanted, found, refusal
from abacus.cli.segments.segment_views import Name
from abacus.cli.terminal.answer import EXIT_FAILED, Answer, counted
from abacus.cli.terminal.command_actor import CommandActor, actor
from abacus.cli.terminal.shell import people_pool, settings
from abacus.core.errors import Refused
from abacus.signals.segments.decide.change import check_name, sentence
from abacus.signals.segments.desk import SegmentDesk
from abacus.signals.segments.types import Changed, How


async def change(name: str, how: How, wanted: Wanted, country: str | None = None) -> Answer:
    """Loads, adds or removes."""
    settings()
    check_name(name)
    async with actor(people_pool) as at:
        desk = _desk(at)
        of = await desk.country(name, how, at.actor, country)
        checked = check_wanted(wanted)
        if (refused := refusal(wanted, checked)) is not None:
            return refused
        members = await found(wanted, checked, desk.give(how))
        file = wanted.file.name if wanted.file is not None else None
        changed = await desk.change(name, how, members.members, at.actor, country=of, file=file)
    return _answer(changed, members)


async def combine(left: str, how: How, right: str, into: str | None) -> Answer:
    settings()
    async with actor(people_pool) as at:
        changed = await _desk(at).combine(left, how, right, at.actor, into=into)
    return _answer(changed, None)


async def drop_segment(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Drop it without asking. Only a terminal is asked.")] = False,
) -> Answer:
    """Leave nobody in a segment, and list it no more. A campaign that asks for it finds no member in it."""
    settings()
    async with actor(people_pool) as at:
        desk = _desk(at)
        await desk.country(name, How.DROP, at.actor)
        if not yes and sys.stdin.isatty():
            segment = await desk.latest(name)
            _ask(f"Drop {segment.label}, with {counted(segment.size, 'member')}?")
        changed = await desk.drop(name, at.actor)
    return Answer(_document(changed, None), sentence(changed))


def _desk(at: CommandActor) -> SegmentDesk:
    return SegmentDesk(at.pool, at.clock, people_required=at.people_required)


def _ask(question: str) -> None:
    if not typer.confirm(question, err=True):
        raise Refused("not dropped")


def _answer(changed: Changed, members: Found | None) -> Answer:
    bad, faults = (members.lines.bad, members.faults) if members is not None else (0, [])
    skipped = f"; {counted(bad, 'bad line')} left out" if bad else ""
    exit_code = EXIT_FAILED if bad else 0
    return Answer(_document(changed, members), *faults, sentence(changed) + skipped, exit_code=exit_code)


def _document(changed: Changed, members: Found | None) -> dict[str, Any]:
    segment, lines = changed.segment, members.document() if members is not None else {}
    return {
        "changed": changed.made_a_version,
        "name": segment.name,
        "version": segment.version,
        "country": segment.country,
        "size": segment.size,
        "added": changed.added,
        "removed": changed.removed,
        **lines,
    }
