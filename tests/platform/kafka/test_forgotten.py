"""Messages that the broker deleted before they were read are logged and counted; other gaps are nobody's business."""

import asyncio
import os
import uuid
from collections.abc import Callable, Sequence
from typing import Final

import pytest
from aiokafka import TopicPartition
from confluent_kafka import Producer
from structlog.testing import capture_logs

from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.forgotten import ForgottenMessages, Jump, jumps
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.kafka.reader import Record, StreamReader
from abacus.platform.metrics import MESSAGES_FORGOTTEN, total
from tests.support.memory_consumer import memory_client
from tests.support.memory_log import MemoryLog
from tests.support.services import Services

GONE: Final = "messages were deleted before they were read"
ONLY: Final = TopicPartition("t", 0)


@pytest.mark.parametrize(
    ("due", "offsets", "jumped"),
    [
        (5, [5], []),
        (5, [5, 6, 7], []),
        (5, [8, 9], [(5, 8)]),
        (5, [5, 7, 8, 11], [(6, 7), (9, 11)]),
        (5, [2, 3], [(5, 2)]),
        (None, [5, 6], [(None, 5)]),
        (None, [0, 3], [(None, 0), (1, 3)]),
    ],
)
def test_where_other_offsets_come_than_are_due(
    due: int | None, offsets: list[int], jumped: list[tuple[int | None, int]]
) -> None:
    assert jumps(ONLY, due, offsets) == [Jump(ONLY, *each) for each in jumped]


class Broker:
    """Knows where the partition begins, and how far the group has committed."""

    def __init__(self, begins: int, committed: int | None = None) -> None:
        self.begins = begins
        self._committed = committed

    async def committed(self, partition: TopicPartition) -> int | None:
        return self._committed

    async def beginning_offsets(self, partitions: object) -> dict[TopicPartition, int]:
        return {ONLY: self.begins}


@pytest.mark.parametrize(
    ("committed", "begins", "offsets", "told"),
    [
        (None, 70, [70, 71], []),  # a new group: the topic had a life before it
        (40, 0, [40, 41], []),
        (40, 0, [43, 44], []),  # compaction, aborted messages, markers
        (40, 70, [70, 71], [(30, 40, 70)]),
        (40, 60, [70, 71], [(20, 40, 60)]),  # and ten that are gaps of another kind
        (40, 90, [40, 41, 90], [(48, 42, 90)]),  # deleted while they were read
        (40, 45, [40, 41], []),  # read in time
    ],
)
async def test_what_is_told(
    committed: int | None, begins: int, offsets: list[int], told: list[tuple[int, int, int]]
) -> None:
    group = uuid.uuid4().hex
    watched = ForgottenMessages(group)
    watched.read(ONLY, offsets)
    with capture_logs() as logs:
        await watched.explain(Broker(begins, committed))
        await watched.explain(Broker(begins, committed))  # once
    assert [(each["messages"], each["first"], each["after"]) for each in logs] == told
    assert total(MESSAGES_FORGOTTEN, group=group) == sum(count for count, _, _ in told)


async def test_a_partition_that_came_back_is_read_on_from_where_its_group_is() -> None:
    watched = ForgottenMessages("readers")
    watched.read(ONLY, range(40))
    watched.left([ONLY])
    watched.read(ONLY, [90, 91])
    with capture_logs() as logs:
        await watched.explain(Broker(90, committed=90))
    assert logs == []


async def test_a_topic_that_was_made_anew_is_told_of() -> None:
    watched = ForgottenMessages("readers")
    watched.read(ONLY, [0, 1])
    with capture_logs() as logs:
        await watched.explain(Broker(0, committed=500))
    assert [(each["due"], each["came"]) for each in logs] == [(500, 0)]


async def test_a_quiet_partition_is_looked_at() -> None:
    group = uuid.uuid4().hex
    watched, broker = ForgottenMessages(group), Broker(10, committed=10)
    with capture_logs() as logs:
        await watched.look([ONLY], broker)
        assert logs == []
        broker.begins = 25
        await watched.look([ONLY], broker)
        await watched.look([ONLY], broker)
    assert [each["messages"] for each in logs] == [15]
    assert total(MESSAGES_FORGOTTEN, group=group) == 15


async def read_on(made: Callable[[str], StreamReader], group: str, messages: int) -> list[int]:
    """Reads so many messages in the group, and commits them; their offsets."""
    stop, offsets = asyncio.Event(), list[int]()

    async def handle(records: Sequence[Record]) -> None:
        offsets.extend(record.offset for record in records)
        if len(offsets) >= messages:
            stop.set()

    await asyncio.wait_for(made(group).run(handle, stop), 60)
    return offsets


async def test_a_reader_tells_what_was_deleted_while_nobody_read() -> None:
    log, topic = MemoryLog(), "t"
    only = log.append(topic, StreamMessage(b"bob", b"0")).partition
    group = uuid.uuid4().hex

    def made(name: str) -> StreamReader:
        return StreamReader("memory", topic, name, WorkerHealth("reader"), client=memory_client(log))

    assert await read_on(made, group, 1) == [0]
    for _ in range(9):
        log.append(topic, StreamMessage(b"bob", b"0"))
    log.delete_before(TopicPartition(topic, only), 6)
    with capture_logs() as logs:
        assert await read_on(made, group, 4) == [6, 7, 8, 9]
    told = [each for each in logs if each["event"] == GONE]
    assert [(each["partition"], each["messages"], each["first"], each["after"]) for each in told] == [(only, 5, 1, 6)]


@pytest.mark.long
@pytest.mark.skipif(
    bool(os.environ.get("ABACUS_TEST_KAFKA_BOOTSTRAP")), reason="only the embedded broker keeps five megabytes"
)
async def test_the_embedded_broker_forgets_and_it_is_told(services: Services) -> None:
    crowded = f"crowded.{uuid.uuid4().hex[:8]}"
    producer = Producer({"bootstrap.servers": services.kafka_bootstrap, "message.max.bytes": 1_000_000})

    async def produce(messages: int) -> None:
        for _ in range(messages):
            producer.produce(crowded, value=b"x" * 400_000, partition=0)
            assert await asyncio.to_thread(producer.flush, 30) == 0

    def made(name: str) -> StreamReader:
        return StreamReader(services.kafka_bootstrap, crowded, name, WorkerHealth("reader"))

    group = f"{crowded}.readers"
    await produce(2)
    assert await read_on(made, group, 2) == [0, 1]
    await produce(20)
    with capture_logs() as logs:
        offsets = await read_on(made, group, 5)
    told = [(each["messages"], each["first"], each["after"]) for each in logs if each["event"] == GONE]
    assert offsets[0] > 2
    assert told == [(offsets[0] - 2, 2, offsets[0])]
    assert total(MESSAGES_FORGOTTEN, group=group) == offsets[0] - 2
