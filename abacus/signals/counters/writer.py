"""Counts the events of a topic as they come.

Rows hold absolute counts and the last offset that is in them, so that counting an event again changes nothing: after a
crash, by a process that lost its partition and does not know it yet, or by the next owner. docs/adr/0051 says why.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from abacus.core.errors import Unavailable
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import Record, StartAgain
from abacus.platform.patience import unless_stopped, until_available
from abacus.signals.counters.counter import CountedBatch, EventCounter, Work, by_partition, tally_after
from abacus.signals.counters.decide.batch import BatchWriter
from abacus.signals.counters.decide.topics import InForce
from abacus.signals.counters.kind import Documents
from abacus.signals.counters.metrics import COUNTER_EVENTS, COUNTER_NOT_COUNTED
from abacus.signals.counters.partitions import OpenPartitions
from abacus.signals.counters.topic import Topic

_ADOPT_EVERY_S: Final = 0.3


class CounterWriter:
    """The handler of a reader, and its `Places`: how far a partition is read is recorded with its counts."""

    def __init__(
        self,
        topic: Topic,
        documents: Documents,
        partitions: OpenPartitions,
        counter: EventCounter,
        health: WorkerHealth,
    ) -> None:
        self._topic = topic
        self._documents = documents
        self._partitions = partitions
        self._counter = counter
        self._health = health
        self._one_at_a_time = asyncio.Lock()

    async def begin(self, partitions: Collection[int]) -> Mapping[int, int]:
        async with self._one_at_a_time:
            self.left(partitions)
            await self._partitions.begin(partitions, self._in_force())
            return {partition: self._partitions[partition].place.tally.upto + 1 for partition in partitions}

    def left(self, partitions: Collection[int]) -> None:
        for partition in partitions:
            if (closed := self._partitions.close(partition)) is not None:
                self._counter.forget(closed.writer)

    async def adopt(self, stop: asyncio.Event) -> None:
        """Lets new definitions begin within moments, also where no event comes, until `stop` is set."""
        while not stop.is_set():
            with suppress(Unavailable, StartAgain):  # the next events will run into the same
                async with self._one_at_a_time:
                    await self._partitions.adopt(self._in_force())
            await unless_stopped(asyncio.sleep(_ADOPT_EVERY_S), stop)

    async def handle(self, records: Sequence[Record]) -> None:
        """Returns when these events are counted. Raises `StartAgain` when another process has counted them, or the
        topic was deleted and created anew.
        """
        async with self._one_at_a_time:
            await until_available(lambda: self._handle(records), self._health)

    async def _handle(self, records: Sequence[Record]) -> None:
        in_force = self._in_force()
        came = by_partition(records)
        if new := [partition for partition in came if partition not in self._partitions]:
            await self._partitions.begin(new, in_force)
        await self._partitions.adopt(in_force)
        waiting = {partition: self._news(partition, some) for partition, some in came.items()}
        while waiting := {partition: some for partition, some in waiting.items() if some}:
            for partition in await self._count(waiting, in_force):
                del waiting[partition]

    async def _count(self, news: Mapping[int, Sequence[Record]], in_force: InForce) -> Collection[int]:
        """Returns the partitions whose records are counted; in the others another definition has begun meanwhile."""
        works = [self._work(partition, some, in_force) for partition, some in news.items()]
        outcomes = await self._counter.count(works, self._partitions.generation.confirm)
        outcome_of = {partition: outcomes[self._partitions[partition].writer] for partition in news}
        tallies = {
            partition: tally_after(self._partitions[partition].place.tally, outcome_of[partition], some[-1])
            for partition, some in news.items()
        }
        new_keys = {day: room for each in outcome_of.values() for day, room in each.new_keys.items()}
        counted = await self._partitions.move(tallies, new_keys, in_force)
        self._tell(outcome_of[partition] for partition in counted)
        return counted

    def _in_force(self) -> InForce:
        return self._documents.of(self._topic.name)

    def _news(self, partition: int, records: Sequence[Record]) -> Sequence[Record]:
        upto = self._partitions[partition].place.tally.upto
        return [record for record in records if record.offset > upto]

    def _work(self, partition: int, records: Sequence[Record], in_force: InForce) -> Work:
        opened = self._partitions[partition]
        reading, since = BatchWriter(opened.writer, in_force.read, opened.measures), opened.place.tally.upto + 1
        return Work(reading, records, since, in_force.kept)

    def _tell(self, outcomes: Iterable[CountedBatch]) -> None:
        for each in outcomes:
            for fate, events in list(each.fates._asdict().items())[1:]:
                COUNTER_EVENTS.labels(self._topic.name, fate).inc(events)
            for (definition, reason), events in each.not_counted.items():
                COUNTER_NOT_COUNTED.labels(definition.name, reason).inc(events)
