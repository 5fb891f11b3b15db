"""Processes that count one topic in a storm: they are killed at any await, lose partitions without knowing it, save
late, and hear of new definitions at different times.
"""

import asyncio
import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from abacus.core.clock import SystemClock
from abacus.core.errors import Unavailable
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import StartAgain
from abacus.platform.postgres import Pool
from abacus.platform.quarantine.store import QuarantineStore
from abacus.signals.counters.counter import EventCounter
from abacus.signals.counters.decide.batch import EventMemory
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.kind import Documents
from abacus.signals.counters.new_keys import NewKeysBook
from abacus.signals.counters.open_rows import OpenRows
from abacus.signals.counters.partitions import OpenPartitions
from abacus.signals.counters.series import SeriesBook
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.types import Row
from abacus.signals.counters.writer import CounterWriter
from tests.signals.counters.memory_topic import MemoryTopic
from tests.signals.counters.store.wrapped import WrappedStore

_MOST_PROCESSES: Final = 3
_MOST_RECORDS: Final = 12  # of a partition, at a time
_DAY: Final = timedelta(hours=24)


class Storm:
    """The topic, the store and the database, and the documents that were published so far."""

    def __init__(self, topic: MemoryTopic, store: CounterStore, pool: Pool, rng: random.Random) -> None:
        self.topic = topic
        self.store = store
        self.pool = pool
        self.rng = rng
        self.catalogs: list[Catalog] = []
        self._processes: list[Process] = []

    async def blow(self, steps: int) -> None:
        for _ in range(steps):
            if not self._processes:
                await self._share_out()
            one = self.rng.choice(self._processes)
            match self.rng.randrange(10):
                case 0:
                    one.learn()
                case 1:
                    one.store.hold()
                case 2:
                    one.store.release()
                case 3:
                    await self._share_out()
                case 4:
                    await one.kill()
                    self._processes.remove(one)
                case _:
                    one.start()
            for _ in range(self.rng.randrange(12)):
                await asyncio.sleep(0)

    async def calm(self) -> None:
        """Whatever comes late is saved, and then one process counts to the end."""
        for one in self._processes:
            await one.finish()
        last = Process(self)
        last.learn()
        await last.take(range(len(self.topic.partitions)))
        while last.positions != {number: len(held) for number, held in enumerate(self.topic.partitions)}:
            last.start()
            await last.finish()

    async def _share_out(self) -> None:
        """The group gives the partitions to two processes. Others that had some do not hear of it."""
        if len(self._processes) < _MOST_PROCESSES:
            self._processes.append(Process(self))
        partitions = list(range(len(self.topic.partitions)))
        self.rng.shuffle(partitions)
        cut = self.rng.randint(0, len(partitions))
        takers = self.rng.sample(self._processes, min(2, len(self._processes)))
        for one, some in zip(takers, (partitions[:cut], partitions[cut:]), strict=False):
            await one.take(some)


class Process:
    """A process with the partitions that it was given last, whoever has them by now."""

    def __init__(self, storm: Storm) -> None:
        self.store = LateStore(storm.store, storm.rng)
        self.positions: dict[int, int] = {}
        self._storm = storm
        self._catalog = storm.rng.choice(storm.catalogs)
        self._work: asyncio.Task[None] | None = None
        clock = SystemClock()
        open_rows = OpenRows(storm.rng.choice((10, 100, 10_000)))
        counter = EventCounter(
            self.store,
            open_rows,
            QuarantineStore(storm.pool, clock),
            EventMemory(_DAY),
            clock,
            new_keys=NewKeysBook(storm.pool, clock),
            piece=storm.rng.choice((3, 10, 5_000)),
            most_unsaved=storm.rng.choice((0, 20, 20_000)),
        )
        self._writer = CounterWriter(
            storm.topic,
            Documents(lambda: self._catalog, "events"),
            OpenPartitions(storm.topic, SeriesBook(storm.pool, clock)),
            counter,
            WorkerHealth("counter"),
        )

    def learn(self) -> None:
        """Hears of the latest documents."""
        self._catalog = self._storm.catalogs[-1]

    async def take(self, partitions: Sequence[int]) -> None:
        """The group gives it these partitions, and no others."""
        await self.finish()
        self._writer.left(list(self.positions))
        await self._begin(partitions)

    def start(self) -> None:
        """Begins to count the next records of its partitions, unless it counts already."""
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._count())

    async def finish(self) -> None:
        """What it works on comes to an end."""
        self.store.release()
        self.learn()  # it may wait for a definition that it does not know
        if self._work is not None:
            await self._work

    async def kill(self) -> None:
        if self._work is not None:
            self._work.cancel()
            await asyncio.wait((self._work,))

    async def _begin(self, partitions: Sequence[int]) -> None:
        self.positions = {}
        while len(self.positions) < len(partitions):
            try:
                self.positions = dict(await self._writer.begin(partitions))
            except StartAgain:
                continue
            except Unavailable:  # a definition begins there that it does not know
                self.learn()

    async def _count(self) -> None:
        records = [
            record
            for partition, first in self.positions.items()
            for record in self._storm.topic.partitions[partition][
                first : first + self._storm.rng.randint(1, _MOST_RECORDS)
            ]
        ]
        try:
            await self._writer.handle(records)
        except StartAgain:  # a reader leaves its group then, and joins it again
            self._writer.left(list(self.positions))
            await self._begin(list(self.positions))
        else:
            self.positions |= {record.partition: record.offset + 1 for record in records}


class LateStore(WrappedStore):
    """A store whose saves can be held back, and that saves rows one part after another, as one without transactions."""

    def __init__(self, store: CounterStore, rng: random.Random) -> None:
        super().__init__(store)
        self._rng = rng
        self._free = asyncio.Event()
        self.release()

    def hold(self) -> None:
        self._free.clear()

    def release(self) -> None:
        self._free.set()

    async def save(self, rows: Sequence[Row]) -> None:
        await self._free.wait()
        shuffled = self._rng.sample(list(rows), len(rows))
        cut = self._rng.randint(0, len(rows))
        await self._store.save(shuffled[:cut])
        await self._store.save(shuffled[cut:])
