"""`abacus migrate`, and the tree of `abacus ledger`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.progress import TaskID

from abacus.cli.ledger import seals
from abacus.cli.ledger import verify as verifying
from abacus.cli.ledger.generations import generations
from abacus.cli.terminal.answer import Answer
from abacus.cli.terminal.progress import bars
from abacus.cli.terminal.shell import CommandGroup, settings
from abacus.platform.cluster.placement import placement_at
from abacus.platform.migrations import cut, make_sandbox, split
from abacus.platform.migrations import migrate as migrate_database
from abacus.platform.slices import MOST

app = CommandGroup(help="Prove the ledger, and list its generations.", no_args_is_help=True)
app.command("verify")(verifying.verify)
app.command("seal")(seals.seal)
app.command("seals")(seals.show_seals)
app.command("prove")(seals.prove)
app.command("check-proof")(seals.check_proof)
app.command("generations")(generations)


async def migrate(
    citus: Annotated[
        bool, typer.Option("--citus", help="Then place the slices on the servers of Citus; see docs/operate/slices.md.")
    ] = False,
    slices: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST,
            help="Then cut the empty ledger into this number of slices, for ever; see docs/operate/slices.md.",
        ),
    ] = None,
    sandbox: Annotated[
        bool, typer.Option("--sandbox", help="Then make the sandbox of test keys, if there is none.")
    ] = False,
    new_sandbox: Annotated[
        bool, typer.Option("--new-sandbox", help="Then make the sandbox anew: all test keys and test points are gone.")
    ] = False,
    split_logins: Annotated[
        bool,
        typer.Option(
            "--split-logins", help="Then take from the workers' login what makes persons; see docs/operate/deploy.md."
        ),
    ] = False,
) -> Answer:
    """Bring the database to the schema of this version, the sandbox too. Doing it again changes nothing.

    A ledger in slices is changed slice by slice, and what was interrupted is gone on with.
    """
    url = settings().required("database_url")
    if citus:
        async with placement_at(url) as servers:
            await servers.prepare()
    with _shown("revision") as told:
        before, after = await migrate_database(url, told=told)
    was_cut = slices is not None and await cut(url, slices)
    placed = await _placed(url) if citus else None
    if sandbox or new_sandbox:
        await make_sandbox(url, anew=new_sandbox)
    if split_logins:
        await split(url)
    asked_for = {"slices": slices, "placed": placed}
    done = {name: value for name, value in asked_for.items() if value is not None}
    lines = [f"schema {after}" + (" (nothing to do)" if before == after else f", was {before or 'empty'}")]
    if was_cut:
        lines.append(f"the ledger is cut into {slices} slices")
    if sandbox or new_sandbox:
        lines.append("test keys have a sandbox; the API looks for it when it starts")
    if split_logins:
        lines.append("the workers' login enters nobody, begins no session and changes no segment")
    if placed is not None:
        lines.append(f"placed on the servers of Citus: {', '.join(placed) or 'nothing more'}")
    return Answer({"before": before, "after": after} | done, *lines)


async def _placed(database_url: str) -> list[str]:
    async with placement_at(database_url) as slices:
        with _shown("slices placed") as told:
            return await slices.place(lambda done, of: told("", done, of))


@contextmanager
def _shown(what: str) -> Iterator[Callable[[str, int, int], None]]:
    """How many slices are done, as long as that takes."""
    with bars() as progress:
        tasks: dict[str, TaskID] = {}

        def told(name: str, done: int, of: int) -> None:
            title = f"{what} {name}, slices" if name else what
            if title not in tasks:
                tasks[title] = progress.add_task(title, total=of)
            progress.update(tasks[title], completed=done)

        yield told
