"""`abacus journeys migrate`: the members inside a version go over to another one, deliberately."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from abacus.cli.journeys.family import journey_desk
from abacus.cli.people.approvals import document as approval_document
from abacus.cli.terminal.answer import Answer, Columns, Table, counted
from abacus.cli.terminal.command_actor import at_desk
from abacus.cli.terminal.draft_files import document_in
from abacus.cli.terminal.progress import bars
from abacus.engage.journeys.decide.migration import Migration, Stand
from abacus.people.types.deed import Deed

_COLUMNS: Columns[Mapping[str, Any]] = {
    "waits at": lambda row: row["from"],
    "lands at": lambda row: row["to"],
    "goes on": lambda row: row["goes_on"],
    "members": lambda row: row["members"],
}


async def migrate_members(
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)],
    before: Annotated[int, typer.Option("--from", metavar="N", help="The version by which they entered.")],
    after: Annotated[int, typer.Option("--to", metavar="N", help="The version that takes members in.")],
    map_: Annotated[
        Path | None,
        typer.Option("--map", metavar="FILE", help="A node of the one version = a node of the other, in TOML or JSON."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show who would land where.")] = False,
) -> Answer:
    """Move the members who are inside a version of a journey to the version that takes members in.

    Another person approves it; then the same command moves them. A run that was cut off goes on when it is done again.
    """
    written = {} if map_ is None else document_in(map_)
    async with at_desk(journey_desk) as (desk, at):
        migration = await desk.migration(name, before, after, written)
        at.check(Deed.SEE if dry_run else Deed.EDIT_JOURNEYS, migration.before.country)
        with _shown(f"counting members of {migration.before.label}") as told:
            stands = await desk.stands(migration, told)
        rows, members = list(_rows(migration, stands)), sum(stands.values())
        table = Table.of(f"Members of {migration.label}", rows, _COLUMNS)
        document = {"name": name, "from": before, "to": after, "nodes": rows, "members": members}
        if dry_run:
            return Answer(document, table, f"{counted(members, 'member')} would be moved; nothing is changed")
        waits_for = await desk.may_migrate(migration, members, at.actor)
        if waits_for is not None:
            waits = f"another person approves it with `abacus approvals approve {waits_for.approval_id}`"
            document |= {"approval": approval_document(waits_for), "moved": None}
            return Answer(document, table, f"{waits}; then the same command moves the members")
        with _shown(f"moving members of {migration.label}", members) as told:
            moved = await desk.migrate(migration, at.actor, told)
    return Answer(document | {"approval": None, "moved": moved}, table, f"{counted(moved, 'member')} moved")


def _rows(migration: Migration, stands: Mapping[Stand, int]) -> Iterator[dict[str, Any]]:
    """For each node where members may wait, where they land."""
    waiting: dict[int, int] = {}
    for stand, members in stands.items():
        waiting[stand.node] = waiting.get(stand.node, 0) + members
    for node in migration.nodes(waiting):
        landing = migration.landing(node.number)
        if landing is not None:
            there, goes_on = landing
            yield {"from": node.name, "to": there.name, "goes_on": goes_on, "members": waiting.get(node.number, 0)}


@contextmanager
def _shown(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A bar that is told of further members."""
    with bars() as shown:
        task = shown.add_task(what, total=total)
        yield lambda members: shown.advance(task, members)
