"""`abacus events`: check, compare, publish and look at the sources of events."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from abacus.cli.events.event_drafts import faultless, plans_of, publish_drafts, read_drafts
from abacus.cli.terminal.draft_plans import print_difference, print_faults
from abacus.cli.terminal.shell import AsJson, counted, pool, print_json, run, settings, table
from abacus.configuration import built_in_sources
from abacus.core.errors import absent
from abacus.signals.events.decide.diff import describe_changes, described
from abacus.signals.events.decide.source import Source, names_source, split_label, to_document, to_toml
from abacus.signals.events.store import SourceRecord, SourceStore

app = typer.Typer(no_args_is_help=True, help="Sources of events: where the events of a stream stand in its messages.")

Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Sources, in TOML or JSON.", show_default=False)]


@app.command()
def lint(files: Files, as_json: AsJson = False) -> None:
    """Check sources and print every fault with its path. Needs no database."""
    run(_lint(files, as_json=as_json))


@app.command()
def diff(
    file: Annotated[Path, typer.Argument(help="A source, in TOML or JSON.", show_default=False)],
    against: Annotated[str | None, typer.Option(metavar="SOURCE@N", help="Default: the latest version.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say in words what a source would change."""
    run(_diff(file, against, as_json=as_json))


@app.command()
def publish(
    files: Files,
    yes: Annotated[bool, typer.Option("--yes", help="Publish without asking. Only a terminal is asked.")] = False,
    as_json: AsJson = False,
) -> None:
    """Publish sources as new versions. A fault in any of them, and none is published."""
    run(_publish(files, ask=not yes and sys.stdin.isatty(), as_json=as_json))


@app.command("list")
def list_sources(
    name: Annotated[str | None, typer.Argument(metavar="[SOURCE]", help="Every version of this one.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the sources in force, with those that are there from the start."""
    run(_list(name, as_json=as_json))


@app.command()
def show(
    which: Annotated[str, typer.Argument(metavar="SOURCE[@N]|FILE", show_default=False)],
    as_json: AsJson = False,
    as_toml: Annotated[bool, typer.Option("--toml", help="Print it as a file to edit.")] = False,
) -> None:
    """Show a source: the latest version, another, or a file."""
    run(_show(which, as_json=as_json, as_toml=as_toml))


async def _lint(files: list[Path], *, as_json: bool) -> None:
    drafts, faults = read_drafts(files)
    valid = {file: f"{source.name} with {counted(len(source.types), 'type')}" for file, source in drafts}
    print_faults(valid, faults, as_json=as_json)


async def _diff(file: Path, against: str | None, *, as_json: bool) -> None:
    (draft,) = faultless([file])
    async with pool() as connections:
        store = SourceStore(connections)
        if against:
            old = await _published(store, against)
            name: str | None = old.label
            changes = describe_changes(old, draft.source)
        else:
            (plan,) = await plans_of(store, [draft])
            name, changes = plan.against, plan.changes
    print_difference(draft.file, name, changes, as_json=as_json)


async def _publish(files: list[Path], *, ask: bool, as_json: bool) -> None:
    await publish_drafts(faultless(files), ask=ask, as_json=as_json)


async def _list(name: str | None, *, as_json: bool) -> None:
    async with pool() as connections:
        store = SourceStore(connections)
        records = await store.latest() if name is None else await store.history(name)
    from_the_start = [each for each in built_in_sources(settings()) if name in {None, each.name}]
    if not records and not from_the_start:
        raise absent("source of events", name, "`abacus events list` prints all")
    rows = [*map(_unpublished, from_the_start), *map(_row, records)]
    if as_json:
        print_json(rows)
    else:
        table("Sources of events", list(rows[0]), [[_cell(value) for value in row.values()] for row in rows])


async def _show(which: str, *, as_json: bool, as_toml: bool) -> None:
    if not names_source(which):
        (draft,) = faultless([Path(which)])
        source, label = draft.source, None
    else:
        async with pool() as connections:
            source = await _published(SourceStore(connections), which)
        label = source.label
    if as_json:
        print_json({"name": label, "source": to_document(source)})
    elif as_toml:
        typer.echo(to_toml(source), nl=False)
    else:
        table(label or which, ["field", "value"], [list(line) for line in described(source)])


async def _published(store: SourceStore, label: str) -> Source:
    """The version; without one, the latest. Raises `Refused`."""
    name, version = split_label(label)
    published = [record.source for record in await store.history(name)]
    sources = [*(each for each in built_in_sources(settings()) if each.name == name), *published]
    fitting = [source for source in sources if version in {None, source.version}]
    if not fitting:
        raise absent("source of events", label, "`abacus events list` prints all")
    return fitting[-1]


def _unpublished(source: Source) -> dict[str, Any]:
    return {**_head(source), "published": None, "by": None}


def _row(record: SourceRecord) -> dict[str, Any]:
    return {**_head(record.source), "published": record.published_at, "by": record.published_by}


def _head(source: Source) -> dict[str, Any]:
    return {
        "name": source.label,
        "topic": source.topic,
        "senders": sorted(source.senders),
        "types": sorted(source.types),
    }


def _cell(value: Any) -> str:
    match value:
        case None:
            return "–"
        case list():
            return ", ".join(value) or "–"
        case str():
            return value
        case _:
            return f"{value:%Y-%m-%d %H:%M}"
