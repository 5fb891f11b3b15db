"""`abacus counters`: check, compare, publish, retire and look at the definitions of counters."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from abacus.cli.counters.counter_account import reconcile
from abacus.cli.counters.counter_cache import cache
from abacus.cli.counters.counter_drafts import (
    Beside,
    faultless,
    in_files,
    plan_of,
    publish_files,
    published,
    read_drafts,
)
from abacus.cli.counters.counter_get import get
from abacus.cli.terminal.acting import acting
from abacus.cli.terminal.draft_plans import print_difference, print_faults
from abacus.cli.terminal.shell import AsJson, pool, print_json, run, table
from abacus.core.document_text import write_toml
from abacus.core.errors import Refused, absent
from abacus.people.types.deed import Deed
from abacus.signals.counters.decide.definition import split_label, to_document
from abacus.signals.counters.decide.diff import describe_changes, described
from abacus.signals.counters.decide.reading import faults_today
from abacus.signals.counters.definitions import DefinitionRecord, DefinitionStore, named
from abacus.signals.counters.new_keys import new_keys_of

app = typer.Typer(
    no_args_is_help=True, help="Counters: how often something happened, for any key, in any range of time."
)

Files = Annotated[
    list[Path], typer.Argument(metavar="FILE...", help="Definitions, in TOML or JSON.", show_default=False)
]
Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False)]


@app.command()
def lint(
    files: Files,
    source: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Judge by these sources of events, without a database. May be repeated."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check definitions, beside each other and what is published, and print every fault with its path."""
    run(_lint(files, source, as_json=as_json))


@app.command()
def diff(
    file: Annotated[Path, typer.Argument(help="A definition, in TOML or JSON.", show_default=False)],
    against: Annotated[str | None, typer.Option(metavar="NAME@N", help="Default: the latest version.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say in words what a definition would change."""
    run(_diff(file, against, as_json=as_json))


@app.command()
def publish(
    files: Files,
    yes: Annotated[bool, typer.Option("--yes", help="Publish without asking. Only a terminal is asked.")] = False,
    as_json: AsJson = False,
) -> None:
    """Publish definitions as new versions. A fault in any of them, and none is published."""
    run(publish_files(files, ask=not yes and sys.stdin.isatty(), as_json=as_json))


@app.command("list")
def list_counters(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Every version of this one.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the latest version of each definition, with its state."""
    run(_list(name, as_json=as_json))


@app.command()
def show(
    which: Annotated[str, typer.Argument(metavar="NAME[@N]", show_default=False)],
    as_json: AsJson = False,
    as_toml: Annotated[bool, typer.Option("--toml", help="Print it as a file to edit.")] = False,
) -> None:
    """Show a definition, the latest version or another, and how many keys began to count on each of the last days."""
    run(_show(which, as_json=as_json, as_toml=as_toml))


@app.command()
def retire(
    name: Name,
    reason: Annotated[str, typer.Option(help="For the log.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Count no more by a definition. Its counts can be asked for until they are forgotten."""
    run(_retire(name, reason, as_json=as_json))


app.command("get")(get)
app.command("cache")(cache)
app.command("reconcile")(reconcile)


async def _lint(files: list[Path], sources: list[Path] | None, *, as_json: bool) -> None:
    drafts, faults = read_drafts(files, in_files(sources) if sources else await _published())
    valid = {file: f"{definition.name} counts {definition.template}" for file, definition in drafts}
    print_faults(valid, faults, as_json=as_json)


async def _published() -> Beside:
    async with pool() as connections:
        return await published(DefinitionStore(connections))


async def _diff(file: Path, against: str | None, *, as_json: bool) -> None:
    async with pool() as connections:
        store = DefinitionStore(connections)
        beside = await published(store)
        (draft,) = faultless([file], beside)
        if against:
            old = (await _version(store, against)).definition
            name: str | None = old.label
            changes = describe_changes(old, draft.definition)
        else:
            _, name, changes = plan_of(draft, beside.latest)
    print_difference(draft.file, name, changes, as_json=as_json)


async def _list(name: str | None, *, as_json: bool) -> None:
    async with pool() as connections:
        store = DefinitionStore(connections)
        beside = await published(store)
        records = await store.latest()
        if name is not None:
            records = await store.history(named(name, records).definition.id)
    rows = [_row(record, beside) for record in records]
    if as_json:
        print_json(rows)
    else:
        shown = ("name", "id", "template", "on", "timezone", "keep", "state")
        table("Counters", shown, [[_cell(row[column]) for column in shown] for row in rows])


def _row(record: DefinitionRecord, beside: Beside) -> dict[str, Any]:
    definition, by, retired_by, reason = record
    faults = faults_today(definition, beside.sources)
    state = "in force" if not faults else "misfit"
    if definition.retired:
        state = "retired"
    elif beside.latest[definition.id].version != definition.version:
        state = "replaced"
    return {
        **to_document(definition),
        "name": definition.label,
        "state": state,
        "faults": [fault._asdict() for fault in faults] if state == "misfit" else [],
        "published": definition.published_at,
        "by": by,
        "retired": definition.retired_at,
        "retired_by": retired_by,
        "reason": reason,
    }


def _cell(value: Any) -> str:
    match value:
        case list():
            return ", ".join(value)
        case dict():
            return ", ".join(f"{name} {each}" for name, each in value.items())
        case _:
            return str(value)


async def _show(which: str, *, as_json: bool, as_toml: bool) -> None:
    async with pool() as connections:
        record = await _version(DefinitionStore(connections), which)
        days = await new_keys_of(connections, record.definition)
    document = to_document(record.definition)
    if as_json:
        new_keys = [each._asdict() for each in days]
        print_json({"name": record.definition.label, "definition": document, "new_keys": new_keys})
    elif as_toml:
        typer.echo(write_toml(document), nl=False)
    else:
        table(record.definition.label, ["field", "value"], [list(line) for line in described(record.definition)])
        if days:
            most = f"{record.definition.most_new_keys:,}"
            rows = [[str(day), f"{admitted:,}", most, f"{refused:,}"] for day, admitted, refused in days]
            table("New keys", ["day", "admitted", "at most", "events refused"], rows)


async def _version(store: DefinitionStore, label: str) -> DefinitionRecord:
    """The version; without one, the latest. Raises `Refused`."""
    name, version = split_label(label)
    latest = named(name, await store.latest())
    for record in await store.history(latest.definition.id):
        if record.definition.version == (version or latest.definition.version):
            return record
    raise absent("counter", label, f"`abacus counters list {name}` prints its versions")


async def _retire(name: str, reason: str, *, as_json: bool) -> None:
    if not reason.strip():
        raise Refused("--reason: say why")
    async with pool() as connections:
        at = await acting(connections)
        also = at.does(Deed.PUBLISH_COUNTERS, f"counter:{name}", did="retire", reason=reason)
        definition = await DefinitionStore(connections).retire(
            name, by=at.actor.source, reason=reason.strip(), now=at.clock.now(), also=also
        )
    if as_json:
        print_json({"name": definition.label, "retired": definition.retired_at})
    else:
        typer.echo(f"{definition.label} counts no more; its counts can be asked for until they are forgotten")
