"""A reader whose handler knows where to begin, gathers records for a moment, and may have it begin again."""

import asyncio
import uuid
from collections.abc import Collection, Mapping, Sequence

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from abacus.core.errors import Unavailable
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import NO_STAMP, Record, StartAgain, StreamReader
from tests.support.services import Services

MESSAGES = 20


class Reading:
    """A handler with places, until it has seen the last offset of the partition."""

    def __init__(self, begins: Mapping[int, int]) -> None:
        self.begins = begins
        self.asked: list[set[int]] = []
        self.gone: list[set[int]] = []
        self.batches: list[list[int]] = []
        self.stop = asyncio.Event()
        self.to_raise: list[Exception] = []
        self.unavailable = 0

    async def begin(self, partitions: Collection[int]) -> Mapping[int, int]:
        self.asked.append(set(partitions))
        if self.unavailable:
            self.unavailable -= 1
            raise Unavailable("database", "down")
        return self.begins

    def left(self, partitions: Collection[int]) -> None:
        self.gone.append(set(partitions))

    async def handle(self, records: Sequence[Record]) -> Sequence[Record] | None:
        if self.to_raise:
            raise self.to_raise.pop()
        assert all(record.stamp_ms != NO_STAMP for record in records)
        self.batches.append([record.offset for record in records])
        if records[-1].offset == MESSAGES - 1:
            self.stop.set()
        return None

    @property
    def offsets(self) -> list[int]:
        return [offset for batch in self.batches for offset in batch]


@pytest.fixture
async def topic(services: Services) -> str:
    name = f"places.{uuid.uuid4().hex[:8]}"
    async with AIOKafkaProducer(bootstrap_servers=services.kafka_bootstrap) as producer:
        for number in range(MESSAGES):
            await producer.send_and_wait(name, b"%d" % number, partition=0)
    return name


async def read(services: Services, topic: str, reading: Reading, *, gather_s: float = 0.0, most: int = 2000) -> None:
    reader = StreamReader(
        services.kafka_bootstrap,
        topic,
        f"{topic}.readers",
        WorkerHealth("reader"),
        places=reading,
        gather_s=gather_s,
        max_records=most,
    )
    await asyncio.wait_for(reader.run(reading.handle, reading.stop), 60)


# Where the handler begins, and the offsets that it is given.
PLACES = [({0: 0}, 0), ({0: 7}, 7), ({}, 0), ({1: 0}, 0)]


@pytest.mark.parametrize(("begins", "first"), PLACES)
async def test_a_partition_is_read_from_where_the_handler_says(
    services: Services, topic: str, begins: Mapping[int, int], first: int
) -> None:
    reading = Reading(begins)
    await read(services, topic, reading)
    assert reading.offsets == list(range(first, MESSAGES))
    assert 0 in reading.asked[0]
    assert reading.gone[-1] == reading.asked[0]


@pytest.mark.long
async def test_the_handlers_place_counts_more_than_the_committed_offset(services: Services, topic: str) -> None:
    await read(services, topic, Reading({}))
    again = Reading({0: 3})
    await read(services, topic, again)
    assert again.offsets == list(range(3, MESSAGES))


async def test_places_that_are_not_known_for_the_moment_are_asked_for_again(services: Services, topic: str) -> None:
    reading = Reading({0: 5})
    reading.unavailable = 2
    await read(services, topic, reading)
    assert len(reading.asked) == 3
    assert reading.offsets == list(range(5, MESSAGES))


@pytest.mark.long
async def test_a_handler_that_starts_again_is_asked_again(services: Services, topic: str) -> None:
    reading = Reading({0: 5})
    reading.to_raise = [StartAgain("all is different"), StartAgain("and again")]
    await read(services, topic, reading)
    assert len(reading.asked) == 3
    assert reading.gone.count(reading.asked[0]) >= 3  # and each time everything had left
    assert reading.offsets == list(range(5, MESSAGES))


class LeavingBehind(Reading):
    """Leaves what is odd behind, until it was called with nothing; then it begins again and does everything."""

    def __init__(self) -> None:
        super().__init__({})
        self.began_again = False

    async def handle(self, records: Sequence[Record]) -> Sequence[Record]:
        if not records:
            self.began_again = True
            raise StartAgain("what is odd can be done")
        self.batches.append([record.offset for record in records])
        if self.began_again:
            if records[-1].offset == MESSAGES - 1:
                self.stop.set()
            return ()
        return [record for record in records if record.offset % 2 and record.offset > 4]


@pytest.mark.long
async def test_what_stays_behind_is_read_again(services: Services, topic: str) -> None:
    """From the first of it on: nothing is committed beyond."""
    reading = LeavingBehind()
    reader = StreamReader(services.kafka_bootstrap, topic, f"{topic}.readers", WorkerHealth("reader"), max_records=3)
    await asyncio.wait_for(reader.run(reading.handle, reading.stop), 60)
    assert reading.offsets == [*range(MESSAGES), *range(5, MESSAGES)]
    async with AIOKafkaConsumer(bootstrap_servers=services.kafka_bootstrap, group_id=f"{topic}.readers") as consumer:
        assert await consumer.committed(TopicPartition(topic, 0)) == MESSAGES


@pytest.mark.long
async def test_records_are_gathered_for_a_moment_or_until_they_are_enough(services: Services, topic: str) -> None:
    gathered = Reading({0: 0})
    await read(services, topic, gathered, gather_s=30, most=MESSAGES)
    assert gathered.batches == [list(range(MESSAGES))]
    few = Reading({0: 0})
    await read(services, topic, few, gather_s=0.2, most=6)
    assert few.offsets == list(range(MESSAGES))
