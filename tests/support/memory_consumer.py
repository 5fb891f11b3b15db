"""The Kafka client's consumer, on a log in memory."""

import asyncio
import random
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from aiokafka import ConsumerRebalanceListener, TopicPartition
from aiokafka.errors import IllegalStateError

from tests.support.memory_log import Group, MemoryLog, Stored

SESSION_S: Final = 10.0
HEARTBEAT_S: Final = 3.0


class MemoryConsumer:
    """As much of `AIOKafkaConsumer` as a reader uses, with the ways of the real one that matter to a reader.

    While the group is being arranged anew, `getmany` waits for the new assignment, whatever its timeout says. With a
    new assignment every partition is read from its committed offset, and none is paused any more.
    """

    def __init__(self, log: MemoryLog, group: str, chance: random.Random) -> None:
        self._log = log
        self._group_name = group
        self._chance = chance
        self._topic = ""
        self._listener: ConsumerRebalanceListener | None = None
        self._positions: dict[TopicPartition, int] = {}
        self._paused: set[TopicPartition] = set()
        self._assigned = asyncio.Event()
        self._rejoin = asyncio.Event()
        self._coordinating: asyncio.Task[None] | None = None

    def subscribe(self, topics: Collection[str], listener: ConsumerRebalanceListener | None = None) -> None:
        (self._topic,) = topics
        self._listener = listener

    async def start(self) -> None:
        self._rejoin.set()
        self._coordinating = asyncio.create_task(self._coordinate())
        await self._assigned.wait()

    async def stop(self) -> None:
        if await self._silenced():
            self._group.leave(self)

    def vanish(self) -> None:
        """The process is gone, without a goodbye: its group notices when the session ends."""
        if self._coordinating is not None:
            self._coordinating.cancel()
            asyncio.get_running_loop().call_later(SESSION_S, self._group.leave, self)

    def please_rejoin(self) -> None:
        """Rejoin, as the answer to a heartbeat demands."""
        heard_in = self._chance.uniform(0.0, HEARTBEAT_S)
        asyncio.get_running_loop().call_later(heard_in, self._rejoin.set)

    async def getmany(
        self, *, timeout_ms: float = 0, max_records: int | None = None
    ) -> dict[TopicPartition, list[Stored]]:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_ms / 1000
        while True:
            while not self._assigned.is_set():
                await self._assigned.wait()
            batch = self._drain(max_records)
            left = deadline - loop.time()
            if batch or left <= 0:
                return batch
            await self._log.grown(left)

    async def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        for partition in offsets:
            self._position(partition)
        self._group.commit(self, offsets)

    def assignment(self) -> set[TopicPartition]:
        return set(self._positions)

    def pause(self, *partitions: TopicPartition) -> None:
        for partition in partitions:
            self._position(partition)
            self._paused.add(partition)

    def resume(self, *partitions: TopicPartition) -> None:
        for partition in partitions:
            self._position(partition)
            self._paused.discard(partition)

    def seek(self, partition: TopicPartition, offset: int) -> None:
        self._position(partition)
        self._positions[partition] = offset

    def highwater(self, partition: TopicPartition) -> int | None:
        self._position(partition)
        return self._log.end(partition)

    async def committed(self, partition: TopicPartition) -> int | None:
        return self._group.committed.get(partition)

    async def beginning_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        return {partition: self._log.begin(partition) for partition in partitions}

    async def end_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        return {partition: self._log.end(partition) for partition in partitions}

    async def topics(self) -> set[str]:
        return {self._topic}

    @property
    def _group(self) -> Group:
        return self._log.group(self._group_name, self._topic)

    def _position(self, partition: TopicPartition) -> int:
        if partition not in self._positions:
            raise IllegalStateError(f"No current assignment for partition {partition}")
        return self._positions[partition]

    def _drain(self, most: int | None) -> dict[TopicPartition, list[Stored]]:
        batch: dict[TopicPartition, list[Stored]] = {}
        waiting = sorted(self._positions.keys() - self._paused)
        self._chance.shuffle(waiting)
        for partition in waiting:
            # The real one goes on at the oldest message that is left, too, and says nothing.
            self._positions[partition] = max(self._positions[partition], self._log.begin(partition))
            stored = list(self._log.read(partition, self._positions[partition], most))
            if stored:
                batch[partition] = stored
                self._positions[partition] += len(stored)
                most = None if most is None else most - len(stored)
            if most == 0:
                break
        return batch

    async def _coordinate(self) -> None:
        while True:
            await self._rejoin.wait()
            self._rejoin.clear()
            self._assigned.clear()
            await self._tell("on_partitions_revoked", self.assignment())
            joined = await self._group.join(self)
            if joined is None:
                self._rejoin.set()
                continue
            committed = self._group.committed
            self._positions = {partition: committed.get(partition, 0) for partition in joined.partitions}
            self._paused = set()
            self._assigned.set()
            await self._tell("on_partitions_assigned", joined.partitions)

    async def _tell(self, what: str, partitions: set[TopicPartition]) -> None:
        told: Any = getattr(self._listener, what, None)
        if told is not None:
            await told(partitions)

    async def _silenced(self) -> bool:
        """Whether it took part in its group until now."""
        coordinating, self._coordinating = self._coordinating, None
        if coordinating is None:
            return False
        coordinating.cancel()
        await asyncio.wait((coordinating,))
        return True


def memory_client(log: MemoryLog) -> Callable[..., MemoryConsumer]:
    """For a reader: members of the groups that it names, by one chance each."""
    return lambda *, group_id, **_: MemoryConsumer(log, group_id, random.Random(1))
