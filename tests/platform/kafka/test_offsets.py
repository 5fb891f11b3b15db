"""What a broker tells of the offsets of a topic, and reading given offsets."""

import os
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from aiokafka import AIOKafkaProducer

from abacus.platform.kafka.offsets import RecordThere, begins_since, record_at
from abacus.platform.kafka.ranges import last_of, read_ranges
from tests.support.services import Services

DAY = datetime(2026, 5, 1, tzinfo=UTC)
STAMPS = (10, 30, 20, 40, 40, 50)  # minutes, in the order of offsets
PARTITIONS = [0, 1]  # the second is empty

needs_times = pytest.mark.skipif(
    not os.environ.get("ABACUS_TEST_KAFKA_BOOTSTRAP"), reason="the embedded broker knows no times"
)


@pytest.fixture
async def topic(services: Services) -> str:
    name = f"offsets.{uuid.uuid4().hex[:8]}"
    async with AIOKafkaProducer(bootstrap_servers=services.kafka_bootstrap) as producer:
        for minute in STAMPS:
            stamp = int(at(minute).timestamp() * 1000)
            await producer.send_and_wait(name, str(minute).encode(), partition=0, timestamp_ms=stamp)
    return name


def at(minute: int) -> datetime:
    return DAY + timedelta(minutes=minute)


@needs_times
async def test_partitions_begin_with_the_first_message_that_is_as_young(services: Services, topic: str) -> None:
    moments = [at(minute) for minute in (0, 10, 11, 20, 30, 31, 40, 41, 50, 51)]
    found = await begins_since(services.kafka_bootstrap, topic, PARTITIONS, moments)
    assert [found[moment][0] for moment in moments] == [0, 0, 1, 1, 1, 3, 3, 5, 5, 6]
    assert {found[moment][1] for moment in moments} == {0}


async def test_where_no_times_are_known_partitions_begin_with_their_oldest_message(
    services: Services, topic: str
) -> None:
    if os.environ.get("ABACUS_TEST_KAFKA_BOOTSTRAP"):
        pytest.skip("this broker knows times")
    found = await begins_since(services.kafka_bootstrap, topic, PARTITIONS, [at(35)])
    assert found == {at(35): {0: 0, 1: 0}}


async def test_nothing_is_asked_for_no_moment(services: Services, topic: str) -> None:
    assert await begins_since(services.kafka_bootstrap, topic, PARTITIONS, []) == {}


THERE = [(0, RecordThere(b"10", may_be_deleted=False)), (5, RecordThere(b"50", may_be_deleted=False))]


@pytest.mark.parametrize(("offset", "there"), [*THERE, (6, RecordThere(None, may_be_deleted=False))])
async def test_one_record(services: Services, topic: str, offset: int, there: RecordThere) -> None:
    assert await record_at(services.kafka_bootstrap, topic, 0, offset) == there


RANGES = [
    ({0: range(6)}, list(range(6))),
    ({0: range(2, 4), 1: range(3)}, [2, 3]),
    ({0: range(4, 99)}, [4, 5]),
    ({0: range(3, 3)}, []),
    ({0: range(6, 9)}, []),
    ({1: range(3)}, []),
    ({}, []),
]


@pytest.mark.parametrize(("ranges", "expected"), RANGES)
async def test_given_offsets_are_read_once(
    services: Services, topic: str, ranges: dict[int, range], expected: Sequence[int]
) -> None:
    read = [each async for batch in read_ranges(services.kafka_bootstrap, topic, ranges) for each in batch]
    assert [each.offset for each in read] == expected
    assert [int(each.value) for each in read] == [STAMPS[offset] for offset in expected]
    assert [each.stamp_ms for each in read] == [int(at(STAMPS[offset]).timestamp() * 1000) for offset in expected]


async def test_the_last_records_of_a_topic(services: Services, topic: str) -> None:
    bootstrap = services.kafka_bootstrap
    assert [each.value for each in await last_of(bootstrap, topic, DAY, 2)] == [b"40", b"50"]
    assert len(await last_of(bootstrap, topic, DAY, 100)) == len(STAMPS)
    assert await last_of(bootstrap, f"{topic}.none", DAY, 2) == []
