"""Counts the messages in dead-letter queues, and sends them back."""

from collections.abc import Sequence
from typing import NamedTuple

from abacus.platform.sqs.definition import definitions
from abacus.platform.sqs.port import CALL_ITEMS, Received
from abacus.platform.sqs.queue import Client, SqsQueue


class DeadLetters(NamedTuple):
    """A dead-letter queue and how many messages wait in it."""

    queue: str
    messages: int


async def dead_letters(client: Client, prefix: str) -> list[DeadLetters]:
    """Every dead-letter queue. Raises `Unavailable`."""
    counted: list[DeadLetters] = []
    for queue in definitions(prefix):
        if queue.dead_letter is None:
            letters = await SqsQueue.find(client, queue.name)
            counted.append(DeadLetters(queue.name, await letters.waiting()))
    return counted


async def redrive(client: Client, prefix: str, name: str, *, limit: int) -> int:
    """Sends up to `limit` messages of the queue's dead letters back to it, and returns how many. Raises `Unavailable`.

    Each is deleted from the dead letters only after its queue has taken it: a crash in between leaves a double, which
    the keys absorb.
    """
    source = await SqsQueue.find(client, f"{prefix}{name}-dlq", wait_s=1)
    target = await SqsQueue.find(client, f"{prefix}{name}")
    moved = 0
    while moved < limit:
        messages: Sequence[Received] = await source.receive()
        if not messages:
            break
        batch = messages[: min(CALL_ITEMS, limit - moved)]
        await target.send([message.body for message in batch])
        await source.delete(batch)
        if len(batch) < len(messages):
            await source.keep(messages[len(batch) :], 0)
        moved += len(batch)
    return moved
