"""`abacus counters`: check, compare, publish, retire and look at the definitions of counters."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from abacus.cli.counters.counter_account import reconcile
from abacus.cli.counters.counter_chart import keys, series
from abacus.cli.counters.counter_get import get
from abacus.cli.counters.counter_store import cache
from abacus.cli.counters.family import FAMILY, counter_desk
from abacus.cli.documents.commands import (
    AsToml,
    add_diff,
    add_publish,
    cell,
    files_argument,
    lint_beside,
    lint_files,
    shown,
)
from abacus.cli.documents.drafts import Judged
from abacus.cli.terminal.answer import Answer, Table
from abacus.cli.terminal.command_actor import actor, at_desk
from abacus.cli.terminal.draft_files import read_files, refuse
from abacus.cli.terminal.known import checked_reason
from abacus.cli.terminal.shell import CommandGroup, settings
from abacus.documents.types import Record
from abacus.signals.counters.decide.definition import Definition, to_document
from abacus.signals.counters.decide.definition_document import faults_today
from abacus.signals.counters.decide.publications import CounterPublications
from abacus.signals.counters.kind import COUNTERS
from abacus.signals.events.decide.source import parse_source
from abacus.signals.events.kind import by_name
from abacus.signals.events.wiring import built_in_sources

app = CommandGroup(
    no_args_is_help=True, help="Counters: how often something happened, for any key, in any range of time."
)

Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False)]


@app.command()
async def lint(
    files: Annotated[list[Path], files_argument(FAMILY)],
    source: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Judge by these sources of events, without a database. May be repeated."),
    ] = None,
) -> Answer:
    """Check definitions, beside each other and what is published, and print every fault with its path."""
    if source:
        return await lint_beside(FAMILY, files, Judged(COUNTERS.read, _in_files(source), {}))
    return await lint_files(FAMILY, files)


add_diff(app, FAMILY)
add_publish(app, FAMILY)


@app.command("list")
async def list_counters(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Every version of this one.")] = None,
) -> Answer:
    """List the latest version of each definition, with its state."""
    async with at_desk(FAMILY.desk) as (desk, _):
        around, latest = await desk.around(), await desk.records()
        records = latest if name is None else await desk.versions(name)
    in_question = {each.version.key: each.version.number for each in latest}
    rows = [_row(record, around, in_question) for record in records]
    shown = ("name", "id", "template", "on", "timezone", "keep", "state")
    return Answer(rows, Table("Counters", shown, [[cell(row[column]) for column in shown] for row in rows]))


@app.command()
async def show(
    which: Annotated[str, typer.Argument(metavar="NAME[@N]", show_default=False)],
    as_toml: AsToml = False,
) -> Answer:
    """Show a definition, the latest version or another, and how many keys began to count on each of the last days."""
    async with actor() as at:
        desk = counter_desk(at)
        record = await desk.version(which)
        days = await desk.new_keys(record.document)
    definition = record.document
    new_keys = {"new_keys": [each._asdict() for each in days]}
    rows = [[day, admitted, definition.most_new_keys, refused] for day, admitted, refused in days]
    tables = [Table("New keys", ["day", "admitted", "at most", "events refused"], rows)] if days else []
    return shown(FAMILY, definition.label, definition, new_keys, *tables, as_toml=as_toml)


@app.command()
async def retire(name: Name, reason: Annotated[str, typer.Option(help="For the log.", show_default=False)]) -> Answer:
    """Count no more by a definition. Its counts can be asked for until they are forgotten."""
    why = checked_reason(reason)
    async with at_desk(FAMILY.desk) as (desk, at):
        at.check(COUNTERS.deed)
        definition = (await desk.withdraw(name, why, at.actor)).document
    return Answer(
        {"name": definition.label, "retired": definition.retired_at},
        f"{definition.label} counts no more; its counts can be asked for until they are forgotten",
    )


app.command("get")(get)
app.command("series")(series)
app.command("keys")(keys)
app.command("cache")(cache)
app.command("reconcile")(reconcile)


def _in_files(sources: Sequence[Path]) -> CounterPublications:
    """The sources of these files, and the sources that are there from the start. Raises `DocumentFaults`."""
    read, faults = read_files(sources, parse_source)
    refuse(faults)
    return CounterPublications(by_name(built_in_sources(settings()), (source for _, source in read)))


def _row(record: Record[Definition], around: CounterPublications, latest: Mapping[Any, int]) -> dict[str, Any]:
    definition, version = record
    faults = faults_today(definition, around)
    state = "in force" if not faults else "misfit"
    if definition.retired:
        state = "retired"
    elif latest[version.key] != version.number:
        state = "replaced"
    retirement = version.withdrawal
    return {
        **to_document(definition),
        "name": definition.label,
        "state": state,
        "faults": [fault._asdict() for fault in faults] if state == "misfit" else [],
        "published": definition.published_at,
        "by": record.published_by,
        "retired": definition.retired_at,
        "retired_by": retirement and retirement.by,
        "reason": retirement and retirement.reason,
    }
