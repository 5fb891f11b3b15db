"""`abacus relay`: how far publishing has come, and publishing again."""

from collections.abc import Sequence
from typing import Annotated

import typer

from abacus.cli.terminal.answer import Answer, counted
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.shell import CommandGroup, moment, pool, settings
from abacus.core.clock import SystemClock
from abacus.ledger.relay.cursor import Position, RelayCursor
from abacus.people.types.deed import Deed

app = CommandGroup(help="The points stream.", no_args_is_help=True)


@app.command()
async def status() -> Answer:
    """Show how far the ledger is published."""
    topic = settings().points_topic
    async with pool() as opened:
        cursor = RelayCursor(opened, topic, SystemClock())
        positions, waiting = await cursor.positions(), await cursor.waiting()
    after = ", ".join(str(tuple(position)) for position in positions)
    return Answer(
        {"topic": topic} | _where(positions) | {"waiting": waiting},
        f"{topic}: {counted(waiting, 'transfer')} to publish, after {after}",
    )


@app.command()
async def rewind(
    start: Annotated[
        str, typer.Option("--from", help="A time with an offset (2026-05-01T00:00:00+08:00), or `start`.")
    ],
) -> Answer:
    """Publish again everything posted since a time. A running relay goes on from there; consumers see the same ids
    again.
    """
    since = None if start == "start" else moment("--from", start)
    async with actor() as at:
        cursor = RelayCursor(at.pool, settings().points_topic, SystemClock())
        await cursor.rewind(since, also=at.does(Deed.REPLAY, "relay", did="rewind", start=start))
        positions, waiting = await cursor.positions(), await cursor.waiting()
    return Answer(_where(positions) | {"waiting": waiting}, f"rewound; {counted(waiting, 'transfer')} to publish")


def _where(positions: Sequence[Position]) -> dict[str, object]:
    """The position of a whole ledger, or that of each slice."""
    each = [position._asdict() for position in positions]
    return {"position": each[0]} if len(each) == 1 else {"positions": each}
