"""Draft definitions of counters: read from files, compared with the latest versions, published."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import typer

from abacus.cli.terminal.acting import Acting, acting
from abacus.cli.terminal.draft_files import FileFault, read_files, refuse
from abacus.cli.terminal.draft_plans import agreed, unchanged
from abacus.cli.terminal.shell import pool, print_json, settings
from abacus.configuration import built_in_sources
from abacus.core.fields import Fault
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Connection
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.diff import describe_changes
from abacus.signals.counters.decide.publishing import faults_beside
from abacus.signals.counters.decide.reading import parse_definition
from abacus.signals.counters.definitions import DefinitionStore, by_name
from abacus.signals.events.decide.source import Source, parse_source


class Draft(NamedTuple):
    """A definition that is not published, and its file."""

    file: str
    definition: Definition


class Plan(NamedTuple):
    """The changes that publishing a draft makes to a version. A draft that is in force already makes none."""

    draft: Draft
    against: str | None
    changes: list[str]

    @property
    def file(self) -> str:
        return self.draft.file


class Beside(NamedTuple):
    """What drafts are judged by: the sources of events, and the latest version of each definition by its id."""

    sources: Mapping[str, Source]
    latest: Mapping[int, Definition]


async def published(store: DefinitionStore) -> Beside:
    definitions, sources = await store.published()
    return Beside(by_name(built_in_sources(settings()), sources), {each.id: each for each in definitions})


def in_files(sources: Sequence[Path]) -> Beside:
    """The sources of these files, those that are there from the start, and no definition. Raises `DocumentFaults`."""
    read, faults = read_files(sources, parse_source)
    refuse(faults)
    return Beside(by_name(built_in_sources(settings()), (source for _, source in read)), {})


def read_drafts(files: Sequence[Path], beside: Beside) -> tuple[list[Draft], list[FileFault]]:
    """The drafts of the files without faults, and the faults of the others."""
    read, faults = read_files(files, partial(parse_definition, sources=beside.sources))
    drafts: list[Draft] = []
    latest = dict(beside.latest)
    of_id: dict[int, str] = {}
    for file, definition in read:
        found = faults_beside(definition, latest.values())
        if definition.id in of_id:
            found = [Fault("id", f"{of_id[definition.id]} is a draft of {definition.id} too")]
        faults += [FileFault(Path(file), fault) for fault in found]
        if not found:
            drafts.append(Draft(file, definition))
            of_id[definition.id] = file
            latest[definition.id] = definition
    return drafts, faults


def faultless(files: Sequence[Path], beside: Beside) -> list[Draft]:
    """The definitions of these files. Raises `DocumentFaults` with every fault of each."""
    drafts, faults = read_drafts(files, beside)
    refuse(faults)
    return drafts


def plan_of(draft: Draft, latest: Mapping[int, Definition]) -> Plan:
    before = latest.get(draft.definition.id)
    return Plan(draft, None if before is None else before.label, describe_changes(before, draft.definition))


async def publish_files(files: Sequence[Path], *, ask: bool, as_json: bool) -> None:
    """Say what the drafts change, ask, and publish all those that change anything, or none. Raises `Refused`."""
    say = partial(typer.echo, err=as_json)  # standard output is for the one document
    async with pool() as connections:
        store, at = DefinitionStore(connections), await acting(connections)
        at.check(Deed.PUBLISH_COUNTERS)
        beside = await published(store)
        plans = [plan_of(draft, beside.latest) for draft in faultless(files, beside)]
        changing = agreed(plans, "the definitions are in force already", ask=ask, say=say)
        definitions = await store.publish(
            [plan.draft.definition for plan in changing],
            built_in=built_in_sources(settings()),
            by=at.actor.source,
            now=at.clock.now(),
            also=partial(_logged, at, changing),
        )
    labels = [definition.label for definition in definitions]
    say("\n".join(f"{label} published" for label in labels))
    if as_json:
        rows = [
            {"file": plan.draft.file, "name": label, "against": plan.against, "changes": plan.changes}
            for plan, label in zip(changing, labels, strict=True)
        ]
        print_json({"published": rows, "unchanged": unchanged(plans)})


async def _logged(at: Acting, plans: Sequence[Plan], connection: Connection) -> None:
    for plan in plans:
        name = plan.draft.definition.name
        await at.does(Deed.PUBLISH_COUNTERS, f"counter:{name}", changes=plan.changes)(connection)
