"""Looks at messages without taking them: dead letters, and the window of the stream."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Final, NamedTuple

from abacus.oversight.where.decide.mentions import Wanted, mentions
from abacus.oversight.where.types import Sighting, Station
from abacus.platform.kafka.groups import committed
from abacus.platform.kafka.window import TopicWindow
from abacus.platform.sqs.definition import definitions
from abacus.platform.sqs.port import Received
from abacus.platform.sqs.queue import Client, SqsQueue

_LOOK_FOR_S: Final = 20.0  # shorter than the visibility timeout of dead letters


async def in_dead_letters(client: Client, prefix: str, wanted: Wanted) -> list[Sighting]:
    """Dead letters that speak of it. They are received and given back at once, which no redrive policy counts. All
    queues are looked into at the same time: that one is empty takes a second to say. Raises `Unavailable`.
    """
    names = [each.name for each in definitions(prefix) if each.dead_letter is None]
    looked = await asyncio.gather(*(_in_queue(client, name, wanted) for name in names), return_exceptions=True)
    if failures := [each for each in looked if isinstance(each, BaseException)]:
        raise failures[0]
    return [sighting for each in looked if not isinstance(each, BaseException) for sighting in each]


async def _in_queue(client: Client, name: str, wanted: Wanted) -> list[Sighting]:
    queue = await SqsQueue.find(client, name, wait_s=1)
    sightings: list[Sighting] = []
    async with aclosing(_looked_at(queue)) as letters:
        async for letter in letters:
            keys = [each.key for each in mentions(letter.body) if wanted.is_meant_by(each)]
            why = f"message {letter.id} of {queue.name}"
            sightings += [Sighting(Station.DEAD_LETTERS, key, None, why) for key in keys]
    return sightings


async def _looked_at(queue: SqsQueue) -> AsyncGenerator[Received, None]:
    """Each message once, all of them ours until the last has been seen."""
    seen: set[str] = set()
    batches: list[Sequence[Received]] = []
    deadline = asyncio.get_running_loop().time() + _LOOK_FOR_S
    try:
        while asyncio.get_running_loop().time() < deadline:
            received = await queue.receive()
            batches.append(received)
            new = [each for each in received if each.id not in seen]
            seen.update(each.id for each in new)
            for letter in new:
                yield letter
            if not new:
                return
    finally:
        for batch in batches:
            await queue.keep(batch, 0)


class Window(NamedTuple):
    """A part of the transactions topic in time, and the group that reads the topic."""

    topic: str
    group: str
    start: datetime
    end: datetime


async def in_stream(bootstrap: str, window: Window, wanted: Wanted) -> list[Sighting]:
    """Messages of the window, and whether the group has read them. Raises `Refused` when there
    is no such topic, and `Unavailable`.
    """
    topic, group, start, end = window
    reached, sightings = await committed(bootstrap, topic, group), list[Sighting]()
    async for batch in TopicWindow(bootstrap, topic, start, end).batches():
        for message in batch:
            is_read = message.offset < reached.get(message.partition, 0)
            state = "read" if is_read else f"not read yet, the group {group} is at {reached.get(message.partition, 0)}"
            why = f"partition {message.partition}, offset {message.offset}: {state}"
            sightings += [
                Sighting(Station.STREAM, each.key, message.stamped_at, why)
                for each in mentions(message.value)
                if wanted.is_meant_by(each)
            ]
    return sightings
