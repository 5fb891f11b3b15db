"""A broker that falls silent: the reader says that it waits, goes on by itself, and ends when it is told to."""

import asyncio
import random
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from aiokafka import TopicPartition

from abacus.platform.health import WorkerHealth, WorkerState
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.kafka.reader import Record, StreamReader
from tests.reliability.simulation.virtual_time import run_virtually
from tests.support.fixed_clock import FixedClock
from tests.support.memory_consumer import MemoryConsumer
from tests.support.memory_log import MemoryLog

TOPIC: Final = "transactions"
GROUP: Final = "readers"
RECORDS: Final = 10


class Silent(MemoryConsumer):
    """While the broker is silent every call hangs, as aiokafka's do."""

    def __init__(self, log: MemoryLog, broker: asyncio.Event, *, without_partitions: bool) -> None:
        super().__init__(log, GROUP, random.Random(1))
        self._broker = broker
        self._without_partitions = without_partitions

    async def getmany(self, *, timeout_ms: float = 0, max_records: int | None = None) -> dict[Any, Any]:
        if not self._broker.is_set() and self._without_partitions:
            await self._broker.wait()  # it waits for the group to be arranged anew
        if not self._broker.is_set():
            await asyncio.sleep(timeout_ms / 1000)
            return {}
        return await super().getmany(timeout_ms=timeout_ms, max_records=max_records)

    def assignment(self) -> set[TopicPartition]:
        return set() if self._without_partitions and not self._broker.is_set() else super().assignment()

    async def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        await self._broker.wait()
        await super().commit(offsets)

    async def beginning_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        await self._broker.wait()
        return await super().beginning_offsets(partitions)

    async def topics(self) -> set[str]:
        await self._broker.wait()
        return await super().topics()


@pytest.mark.parametrize("without_partitions", [False, True])
@pytest.mark.parametrize("comes_back", [False, True])
@pytest.mark.parametrize("at_work", [False, True])
def test_a_silent_broker_is_waited_for(*, at_work: bool, comes_back: bool, without_partitions: bool) -> None:
    async def play() -> None:
        log, broker, stop, health = MemoryLog(), asyncio.Event(), asyncio.Event(), WorkerHealth("reader")
        stream = StreamReader(
            *("memory", TOPIC, GROUP, health),
            client=lambda **_: Silent(log, broker, without_partitions=without_partitions),
        )
        broker.set()
        dealt_with: list[Record] = []

        async def handle(records: Sequence[Record]) -> None:
            dealt_with.extend(records)
            if at_work and len(dealt_with) == len(records):
                broker.clear()  # so that it is the commit which finds nobody

        running = asyncio.ensure_future(stream.run(handle, stop))
        for number in range(RECORDS):
            log.append(TOPIC, StreamMessage(f"m{number}".encode(), b"{}"))
        await asyncio.sleep(1)
        broker.clear()
        await asyncio.sleep(30)
        assert (str(health.state), len(dealt_with)) == ("waiting", RECORDS)
        assert health.detail.startswith("Kafka: ")
        if comes_back:
            broker.set()
            log.append(TOPIC, StreamMessage(b"later", b"{}"))
            await asyncio.sleep(30)
            assert (health.state, log.behind(GROUP, TOPIC)) == (WorkerState.READY, 0)
        stop.set()
        await asyncio.wait_for(running, 20)

    run_virtually(play(), FixedClock(datetime(2026, 5, 1, tzinfo=UTC)))
