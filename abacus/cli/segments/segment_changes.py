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
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool
from abacus.signals.segments.decide.change import check_name
from abacus.signals.segments.member_files import Give
from abacus.signals.segments.numbers import MemberNumbers
from abacus.signals.segments.store import Author, SegmentStore
from abacus.signals.segments.types import NOBODY, Changed, How


async def load_file(name: str, wanted: Wanted, country: str | None) -> Answer:
    settings()
    check_name(name)
    async with actor(people_pool) as at:
        store = SegmentStore(at.pool)
        latest = await store.find(name)
        there = latest is not None and not latest.dropped
        of = country if country is not None or latest is None or not there else latest.country
        at.check(Deed.PUBLISH_SEGMENTS, of)
        if latest is not None:  # it may have been dropped by somebody whom this one may not overrule
            at.check(Deed.PUBLISH_SEGMENTS, latest.country)
        checked = check_wanted(wanted)
        if (refused := refusal(wanted, checked)) is not None:
            return refused
        members = await found(wanted, checked, MemberNumbers(at.pool).give)
        author = _author(at, How.LOAD, name, of, file=wanted.file and wanted.file.name)
        changed = await store.change(name, How.LOAD, members.members, author, country=of)
    return _answer(changed, members)


async def combine(left: str, how: How, right: str, into: str | None) -> Answer:
    settings()
    target = into or left
    async with actor(people_pool) as at:
        store = SegmentStore(at.pool)
        source, latest = await store.latest(left), await store.find(target)
        country = latest.country if latest is not None and not latest.dropped else source.country
        if latest is not None:
            at.check(Deed.PUBLISH_SEGMENTS, latest.country)
        author = _author(at, how, target, country, of=left, other=right)
        changed = await store.combine(left, how, right, author, into=target, country=country)
    return _answer(changed, None)


async def drop_segment(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Drop it without asking. Only a terminal is asked.")] = False,
) -> Answer:
    """Leave nobody in a segment, and list it no more. A campaign that asks for it finds no member in it."""
    settings()
    async with actor(people_pool) as at:
        store = SegmentStore(at.pool)
        segment = await store.latest(name)
        author = _author(at, How.DROP, name, segment.country)
        if not yes and sys.stdin.isatty():
            _ask(f"Drop {segment.label}, with {counted(segment.size, 'member')}?")
        changed = await store.change(name, How.DROP, NOBODY, author, country=segment.country)
    return Answer(_document(changed, None), f"{name} is dropped; {counted(changed.removed, 'member')} were in it")


async def change(name: str, how: How, wanted: Wanted) -> Answer:
    """Only `add` gives numbers: a member without one is in no segment."""
    settings()
    async with actor(people_pool) as at:
        store = SegmentStore(at.pool)
        segment = await store.latest(name)
        author = _author(at, how, name, segment.country, file=wanted.file and wanted.file.name)
        checked = check_wanted(wanted)
        if (refused := refusal(wanted, checked)) is not None:
            return refused
        members = await found(wanted, checked, _give(at.pool, how))
        changed = await store.change(name, how, members.members, author, country=segment.country)
    return _answer(changed, members)


def _ask(question: str) -> None:
    if not typer.confirm(question, err=True):
        raise Refused("not dropped")


def _give(connections: Pool, how: How) -> Give:
    numbers = MemberNumbers(connections)
    return numbers.give if how is How.ADD else numbers.known


def _author(at: CommandActor, how: How, name: str, country: str | None, **details: object) -> Author:
    """Raises `Refused` where the actor may not do it. The log names no members."""
    told = {what: value for what, value in details.items() if value is not None}
    also = at.does(Deed.PUBLISH_SEGMENTS, f"segment:{name}", country=country, did=how.value, **told)
    return Author(at.actor.source, at.clock.now(), also)


def _answer(changed: Changed, members: Found | None) -> Answer:
    bad, faults = (members.lines.bad, members.faults) if members is not None else (0, [])
    skipped = f"; {counted(bad, 'bad line')} left out" if bad else ""
    exit_code = EXIT_FAILED if bad else 0
    return Answer(_document(changed, members), *faults, _sentence(changed) + skipped, exit_code=exit_code)


def _sentence(changed: Changed) -> str:
    segment = changed.segment
    if not changed.made_a_version:
        return f"{segment.label} has these {counted(segment.size, 'member')} already: nothing changed"
    return f"{segment.label} has {counted(segment.size, 'member')}: {changed.added:,} new, {changed.removed:,} gone"


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
