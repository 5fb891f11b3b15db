"""`abacus queues` and `abacus dlq`."""

from collections.abc import Mapping
from typing import Annotated

import typer

from abacus.cli.house.status import queue_table
from abacus.cli.terminal.answer import Answer, Table, counted
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.shell import CommandGroup, database, settings, sqs
from abacus.core.clock import SystemClock
from abacus.core.errors import absent
from abacus.oversight.status.sources import queues, workforce_of
from abacus.people.types.deed import Deed
from abacus.platform.sqs.dead_letters import dead_letters, redrive
from abacus.platform.sqs.definition import definitions, ensure_queues

app = CommandGroup(help="The queues.", no_args_is_help=True)
dead = CommandGroup(help="Dead letters: messages that kept failing.", no_args_is_help=True)


@app.command()
async def ensure() -> Answer:
    """Create the queues that are missing and bring the others' attributes in line. Doing it again changes nothing."""
    config = settings()
    async with sqs(config) as client:
        names = await ensure_queues(client, config.queue_prefix)
    return Answer(names, "\n".join(names))


@app.command("list")
async def list_queues() -> Answer:
    """Show how many messages of each queue wait, are in a worker's hands, and are delayed.

    With a database, also the age of the oldest message of each queue that a worker receives from.
    """
    config = settings()
    oldest_s: Mapping[str, float] = {}
    if config.database_url is not None:
        async with database(config) as opened:
            oldest_s = (await workforce_of(opened, SystemClock())).oldest_s
    async with sqs(config) as client:
        states = await queues(client, config.queue_prefix, oldest_s)
    return Answer([state._asdict() for state in states], queue_table(states))


@dead.command("list")
async def list_dead() -> Answer:
    """Show how many messages each dead-letter queue holds."""
    config = settings()
    async with sqs(config) as client:
        counted = await dead_letters(client, config.queue_prefix)
    return Answer(
        [letters._asdict() for letters in counted],
        Table("Dead letters", ["queue", "messages"], [[letters.queue, str(letters.messages)] for letters in counted]),
    )


@dead.command("redrive")
async def redrive_dead(
    name: Annotated[str, typer.Argument(help="The queue to send back to: award, retry, expiry or campaign-retry.")],
    limit: Annotated[int, typer.Option(min=1, help="The most messages to take.")] = 10_000,
) -> Answer:
    """Send a queue's dead letters back to it. An award that was posted already is not posted again."""
    config = settings()
    known = [queue.name for queue in definitions("") if queue.dead_letter is not None]
    if name not in known:
        raise absent("queue", name, f"there are {', '.join(known)}")
    async with actor() as at, sqs(config) as client:
        await at.begins(Deed.REPLAY, f"queue:{name}", did="redrive", limit=limit)
        moved = await redrive(client, config.queue_prefix, name, limit=limit)
    return Answer(
        {"queue": name, "moved": moved}, f"{counted(moved, 'message')} sent back to {config.queue_prefix}{name}"
    )
