"""`abacus slices`: where the slices of the ledger lie, and moving them to other servers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

from abacus.cli.terminal.answer import Answer, AsJson, Table, console, counted, print_json
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.progress import shown_progress
from abacus.cli.terminal.shell import CommandGroup, settings
from abacus.core.errors import Absent, Refused, absent
from abacus.people.types.deed import Deed
from abacus.platform.cluster.placement import Move, SlicePlacement, placement_at
from abacus.platform.pool.sliced_pool import Address

_LOOK_EVERY_S = 1.0

app = CommandGroup(help="The slices of the ledger, on the servers of Citus.", no_args_is_help=True)

Blocking = Annotated[
    bool,
    typer.Option("--blocking", help="Let the slice's writers wait while it is copied; needs no logical replication."),
]


@app.command("list")
async def list_slices() -> Answer:
    """Show which server has which slice, and how large it is; a slice whose server is away has no size."""
    async with _of_a_cut_ledger() as slices:
        placed = await slices.placed()
    rows = [(each.schema, str(each.address), each.size) for each in placed]
    return Answer(
        [{"slice": schema, "server": server, "bytes": size} for schema, server, size in rows],
        Table("Slices", ["slice", "server", "size"], [[schema, server, _told(size)] for schema, server, size in rows]),
    )


@app.command()
async def move(
    slice_: Annotated[str, typer.Argument(metavar="SLICE", help="As `list` names it: slice_3.")],
    server: Annotated[str, typer.Argument(metavar="HOST:PORT", help="The server, as Citus knows it.")],
    blocking: Blocking = False,
    as_json: AsJson = False,
) -> None:
    """Move a slice to another server, while points are posted to it."""
    async with _of_a_cut_ledger() as slices:
        where = {each.schema: each.address for each in await slices.placed()}
        if slice_ not in where:
            raise absent("slice", slice_, "`abacus slices list` prints all")
        target = _address(server)
        moves = [Move(slice_, where[slice_], target)] if where[slice_] != target else []
    await _make(moves, blocking=blocking, pause_s=0.0, as_json=as_json)


@app.command()
async def rebalance(
    pause: Annotated[float, typer.Option(metavar="SECONDS", min=0, help="Rest so long after each slice.")] = 0.0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the moves.")] = False,
    blocking: Blocking = False,
    as_json: AsJson = False,
) -> None:
    """Spread the slices evenly over the servers, one slice after the other.

    Run it after a server was added, and before one is taken away (docs/operate/slices.md). It can be interrupted: the
    slice that is under way stays where it was, and another run goes on.
    """
    async with _of_a_cut_ledger() as slices:
        moves = await slices.evened()
    if dry_run:
        _show(moves, as_json=as_json)
    else:
        await _make(moves, blocking=blocking, pause_s=pause, as_json=as_json)


@asynccontextmanager
async def _of_a_cut_ledger() -> AsyncIterator[SlicePlacement]:
    async with placement_at(settings().required("database_url")) as slices:
        if not await slices.are_cut():
            raise Absent("this ledger is not cut into slices")
        yield slices


async def _make(moves: list[Move], *, blocking: bool, pause_s: float, as_json: bool) -> None:
    url = settings().required("database_url")
    if moves:
        async with placement_at(url) as slices:
            await slices.prepare_moves()
    async with actor() as at:
        await at.begins(Deed.RUN_JOBS, "job:slices", moves=[_facts(each) for each in moves])
    for number, each in enumerate(moves):
        if number and pause_s:
            await asyncio.sleep(pause_s)
        async with placement_at(url) as slices, _shown(each, f"{number + 1} of {len(moves)}"):
            await slices.move(each.schema, each.target, blocking=blocking)
        if not as_json:
            console.print(f"{each.schema}: {each.source} to {each.target}")
    if as_json:
        print_json({"moved": [_facts(each) for each in moves]})
    elif not moves:
        console.print("nothing to move")


@asynccontextmanager
async def _shown(move: Move, place: str) -> AsyncIterator[None]:
    """How far the copy is, as long as that takes."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with shown_progress(*columns) as progress:
        bar = progress.add_task(f"{move.schema} to {move.target} ({place})", total=None)

        async def look() -> None:
            async with placement_at(settings().required("database_url")) as slices:
                while True:
                    copied, total = await slices.copied()
                    progress.update(bar, completed=copied, total=total or None)
                    await asyncio.sleep(_LOOK_EVERY_S)

        looking = asyncio.create_task(look())
        try:
            yield
        finally:
            looking.cancel()
            with suppress(asyncio.CancelledError, Exception):  # the picture of a move is not the move
                await looking


def _show(moves: list[Move], *, as_json: bool) -> None:
    if as_json:
        print_json({"moves": [_facts(each) for each in moves]})
        return
    for each in moves:
        console.print(f"{each.schema}: {each.source} to {each.target}")
    console.print(f"{counted(len(moves), 'move')} to make" if moves else "nothing to move")


def _facts(move: Move) -> dict[str, str]:
    return {"slice": move.schema, "from": str(move.source), "to": str(move.target)}


def _address(server: str) -> Address:
    host, _, port = server.rpartition(":")
    if not host or not port.isdecimal():
        raise Refused(f"{server!r} is no server: name it as HOST:PORT")
    return Address(host, int(port))


def _told(size: int | None) -> str:
    return "its server does not answer" if size is None else f"{size / 1_000_000:,.1f} MB"
