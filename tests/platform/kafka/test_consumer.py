"""The promises of the Kafka client that a reader needs: `AIOKafkaConsumer` as the product makes it, and the fake."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import IllegalStateError

from abacus.platform.kafka.publisher import StreamPublisher
from tests.support.memory_consumer import MemoryConsumer, memory_client
from tests.support.memory_log import MemoryLog, MemoryPublisher
from tests.support.services import Services
from tests.support.topics import MESSAGES, Record, Topic, offsets_of, poll, read


@pytest.fixture
async def memory_topic() -> Topic:
    log = MemoryLog()
    return await Topic("memory", MemoryPublisher(log), memory_client(log)).filled()


@pytest.fixture
async def kafka_topic(services: Services) -> AsyncIterator[Topic]:
    publisher = StreamPublisher(services.kafka_bootstrap)
    yield await Topic(services.kafka_bootstrap, publisher).filled()
    await publisher.close()


@pytest.fixture(params=["memory_topic", "kafka_topic"])
def topic(request: pytest.FixtureRequest) -> Topic:
    fixture: Topic = request.getfixturevalue(request.param)
    return fixture


async def commit_half(consumer: AIOKafkaConsumer) -> dict[TopicPartition, list[int]]:
    """Read everything, commit half of each partition; the offsets that are left."""
    offsets = offsets_of(await read(consumer, MESSAGES))
    await consumer.commit({partition: len(each) // 2 for partition, each in offsets.items()})
    return {partition: each[len(each) // 2 :] for partition, each in offsets.items()}


def ask_to_rejoin(consumer: Any) -> None:
    """Make the group arrange itself anew, as when its members change; the embedded broker holds one member only."""
    if isinstance(consumer, MemoryConsumer):
        consumer.please_rejoin()
    else:
        consumer._coordinator.request_rejoin()  # noqa: SLF001  # only a broker asks for it in public


def is_whole(records: Iterable[Record]) -> bool:
    """Every message once, and each partition in its order, from its oldest."""
    offsets = offsets_of(records)
    assert all(each == list(range(len(each))) for each in offsets.values())
    return sum(map(len, offsets.values())) == MESSAGES


async def test_a_new_group_reads_everything_from_the_oldest(topic: Topic) -> None:
    async with topic.joined() as consumer:
        records = await read(consumer, MESSAGES)
        assert is_whole(records)
        assert {record.value for record in records} == {b"{}"}
        assert offsets_of(records).keys() <= consumer.assignment()
        assert await poll(consumer) == []


async def test_a_poll_brings_as_many_as_were_asked_for_at_most(topic: Topic) -> None:
    records: list[Record] = []
    async with topic.joined() as consumer, asyncio.timeout(30):
        while len(records) < MESSAGES:
            polled = await poll(consumer, most=7)
            assert len(polled) <= 7
            records += polled
    assert is_whole(records)


@pytest.mark.long
async def test_what_was_committed_is_not_read_again_and_what_was_only_read_is(topic: Topic) -> None:
    async with topic.joined() as consumer:
        left = await commit_half(consumer)
    async with topic.joined() as consumer:
        assert offsets_of(await read(consumer, sum(map(len, left.values())))) == left


@pytest.mark.long
async def test_a_rebalance_goes_back_to_what_was_committed_and_resumes_what_was_paused(topic: Topic) -> None:
    async with topic.joined() as consumer:
        left = await commit_half(consumer)
        consumer.pause(*consumer.assignment())
        ask_to_rejoin(consumer)
        assert offsets_of(await read(consumer, sum(map(len, left.values())))) == left


async def test_committing_does_not_move_the_reader(topic: Topic) -> None:
    async with topic.joined() as consumer:
        records = await read(consumer, 1, most=1)
        await consumer.commit(dict.fromkeys(offsets_of(records), 0))
        records += await read(consumer, MESSAGES - 1)
        assert is_whole(records)


async def test_another_group_reads_everything_again(topic: Topic) -> None:
    async with topic.joined() as consumer:
        await commit_half(consumer)
    async with topic.joined("others") as consumer:
        assert is_whole(await read(consumer, MESSAGES))


async def test_a_paused_partition_gives_nothing_until_it_is_resumed_and_the_others_go_on(topic: Topic) -> None:
    async with topic.joined() as consumer:
        records = await read(consumer, 1, most=1)
        [paused] = offsets_of(records)
        consumer.pause(paused)
        ends = await consumer.end_offsets(consumer.assignment())
        others = await read(consumer, MESSAGES - ends[paused])
        await topic.filled()
        others += await read(consumer, MESSAGES - ends[paused])
        assert paused not in offsets_of([*others, *await poll(consumer)])
        consumer.resume(paused)
        records += await read(consumer, 2 * ends[paused] - 1)
        assert offsets_of(records) == {paused: list(range(2 * ends[paused]))}


async def test_a_partition_is_read_again_from_where_it_is_sought(topic: Topic) -> None:
    async with topic.joined() as consumer:
        partition, offsets = max(offsets_of(await read(consumer, MESSAGES)).items(), key=lambda each: len(each[1]))
        consumer.seek(partition, 1)
        assert offsets_of(await read(consumer, len(offsets) - 1)) == {partition: offsets[1:]}


async def test_a_partition_of_others_is_refused(topic: Topic) -> None:
    async with topic.joined() as consumer:
        others = TopicPartition(topic.name, 999)
        with pytest.raises(IllegalStateError):
            await consumer.commit({others: 1})
        with pytest.raises(IllegalStateError):
            consumer.pause(others)
        with pytest.raises(IllegalStateError):
            consumer.resume(others)
        with pytest.raises(IllegalStateError):
            consumer.seek(others, 0)
        assert is_whole(await read(consumer, MESSAGES))


async def test_where_the_group_and_the_partitions_begin_is_told(topic: Topic) -> None:
    async with topic.joined() as consumer:
        left = await commit_half(consumer)
        never = next(iter(consumer.assignment() - left.keys()), None)
        assert {each: await consumer.committed(each) for each in left} == {each: at[0] for each, at in left.items()}
        assert never is None or await consumer.committed(never) is None
        assert set((await consumer.beginning_offsets(consumer.assignment())).values()) == {0}


async def test_the_ends_are_told(topic: Topic) -> None:
    async with topic.joined() as consumer:
        assert topic.name in await consumer.topics()
        read_to = {partition: len(each) for partition, each in offsets_of(await read(consumer, MESSAGES)).items()}
        ends = await consumer.end_offsets(consumer.assignment())
        assert {partition: end for partition, end in ends.items() if end} == read_to
        assert {partition: consumer.highwater(partition) for partition in read_to} == read_to
        await topic.filled()
        ends = await consumer.end_offsets(consumer.assignment())
        assert sum(ends.values()) == 2 * MESSAGES
