"""Draft event sources: read from files, compared with the latest versions, published."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import typer

from abacus.cli.terminal.acting import acting
from abacus.cli.terminal.draft_files import FileFault, read_files, refuse
from abacus.cli.terminal.draft_plans import agreed, unchanged
from abacus.cli.terminal.shell import pool, print_json, settings
from abacus.configuration import built_in_sources
from abacus.core.fields import Fault
from abacus.people.types.deed import Deed
from abacus.signals.events.decide.diff import describe_changes
from abacus.signals.events.decide.neighbours import faults_beside
from abacus.signals.events.decide.source import Source, parse_source
from abacus.signals.events.store import SourceStore


class Draft(NamedTuple):
    """A source that is not published, and its file."""

    file: str
    source: Source


class Plan(NamedTuple):
    """The changes that publishing a draft makes to a version. A draft that is published already makes none."""

    draft: Draft
    against: str | None
    changes: list[str]

    @property
    def file(self) -> str:
        return self.draft.file


def read_drafts(files: Sequence[Path]) -> tuple[list[Draft], list[FileFault]]:
    """The drafts of these files that have no faults, neither in themselves, nor beside each other and the sources that
    are there from the start; and the faults of the others.
    """
    read, faults = read_files(files, parse_source)
    drafts = [Draft(*each) for each in read]
    beside = _faults(drafts, built_in_sources(settings()))
    bad = {str(fault.file) for fault in beside}
    return [draft for draft in drafts if draft.file not in bad], [*faults, *beside]


def faultless(files: Sequence[Path]) -> list[Draft]:
    """The sources of these files. Raises `DocumentFaults` with every fault of each."""
    drafts, faults = read_drafts(files)
    refuse(faults)
    return drafts


async def plans_of(store: SourceStore, drafts: Sequence[Draft]) -> list[Plan]:
    """Each draft against the latest version of its source. Raises `DocumentFaults` where one does not fit beside the
    other sources.
    """
    latest = {record.source.name: record.source for record in await store.latest()}
    refuse(_faults(drafts, latest.values()))
    return [_plan(draft, latest.get(draft.source.name)) for draft in drafts]


async def publish_drafts(drafts: Sequence[Draft], *, ask: bool, as_json: bool) -> None:
    """Say what the drafts change, ask, and publish those that change anything. Raises `Refused`."""
    say = partial(typer.echo, err=as_json)  # standard output is for the one document
    config = settings()
    rows: list[dict[str, object]] = []
    async with pool() as connections:
        store, at = SourceStore(connections), await acting(connections)
        at.check(Deed.PUBLISH_SOURCES)
        plans = await plans_of(store, drafts)
        for plan in agreed(plans, "the sources are in the store already", ask=ask, say=say):
            source = await store.publish(
                plan.draft.source,
                built_in=built_in_sources(config),
                events_topic=config.events_topic,
                by=at.actor.source,
                now=at.clock.now(),
                also=at.does(Deed.PUBLISH_SOURCES, f"source:{plan.draft.source.name}", changes=plan.changes),
            )
            say(f"{source.label} published")
            published = {"file": plan.draft.file, "name": source.label, "against": plan.against}
            rows.append({**published, "changes": plan.changes})
    if as_json:
        print_json({"published": rows, "unchanged": unchanged(plans)})


def _faults(drafts: Sequence[Draft], others: Iterable[Source]) -> list[FileFault]:
    """The faults of drafts beside the others and each other. A draft takes the place of its published version."""
    events_topic = settings().events_topic
    files: dict[str, str] = {}
    sources = {source.name: source for source in [*others, *(draft.source for draft in drafts)]}
    faults = []
    for file, source in drafts:
        if files.setdefault(source.name, file) != file:
            twice = Fault("source", f"{files[source.name]} is a draft of {source.name} too")
            faults.append(FileFault(Path(file), twice))
        faults += [FileFault(Path(file), fault) for fault in faults_beside(source, sources.values(), events_topic)]
    return faults


def _plan(draft: Draft, published: Source | None) -> Plan:
    changes = describe_changes(published, draft.source)
    return Plan(draft, None if published is None else published.label, changes)
