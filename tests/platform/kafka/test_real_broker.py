"""Tests that need a real Kafka broker: several readers in one group.

The embedded broker holds one reader of a group; tests/reliability/simulation plays the group protocol instead. These
run where `ABACUS_TEST_KAFKA_BOOTSTRAP` names a broker.
"""

import asyncio
import gc
import os
import signal
from collections.abc import Sequence
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete
from aiokafka.consumer.fetcher import PartitionRecords
from structlog.testing import capture_logs

from abacus.cli.examples.stream import stream
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import StreamMessage, StreamPublisher
from abacus.platform.kafka.reader import Record, StreamReader
from abacus.platform.metrics import MESSAGES_FORGOTTEN, total
from tests.support.house import House, until
from tests.support.outcomes import everything_awarded_once, settled

pytestmark = pytest.mark.skipif(
    not os.environ.get("ABACUS_TEST_KAFKA_BOOTSTRAP"), reason="ABACUS_TEST_KAFKA_BOOTSTRAP names no broker"
)

_LONGER_THAN_WAITED_FOR_S = 1.5  # then the partitions are paused


@pytest.mark.long
async def test_calculators_come_and_go_and_nothing_is_lost_or_skipped(house: House) -> None:
    messages = list(stream(4000))
    waves = [messages[start::4] for start in range(4)]
    expected = {sent.award for sent in messages if sent.award is not None}
    async with house.process("awarder", "retrier", "relay"), house.process("calculator") as first:
        await house.produce(waves[0])
        await until(lambda: _transfers(house, 1), within_s=60)
        async with house.process("calculator"), house.process("calculator") as third:
            await house.produce(waves[1])
            await until(lambda: _transfers(house, 1250), within_s=60)
            await house.produce(waves[2])
            first.send(signal.SIGTERM)
            assert await first.wait() == 0
            third.kill()
            async with house.process("calculator"):
                await house.produce(waves[3])
                await until(lambda: settled(house, expected), within_s=120)
                await until(lambda: _all_read(house, len(messages)), within_s=60)
    await everything_awarded_once(house, messages)


@pytest.mark.long
async def test_what_its_sender_took_back_is_not_awarded(house: House) -> None:
    first, second, third, last = [sent for sent in stream(40) if sent.award is not None][:4]
    sender = AIOKafkaProducer(
        bootstrap_servers=house.settings.required("kafka_bootstrap"), transactional_id=house.settings.queue_prefix
    )
    await sender.start()
    try:
        for sent, kept in ((first, True), (second, False), (third, True)):
            await sender.begin_transaction()
            await sender.send_and_wait(house.settings.transactions_topic, sent.value, key=sent.key)
            await (sender.commit_transaction() if kept else sender.abort_transaction())
    finally:
        await sender.stop()
    async with house.process("calculator", "awarder", "relay"):
        await until(lambda: _transfers(house, 2))
        await house.produce([last])
        await until(lambda: _transfers(house, 3))
    keys = {row["key"] for row in await house.pool.fetch("select key from claim")}
    assert keys == {first.award, third.award, last.award}


async def test_messages_that_were_deleted_before_they_were_read_are_told_of(house: House) -> None:
    """Also those of transactions, whose markers stand between them: a marker alone is no message."""
    bootstrap = house.settings.required("kafka_bootstrap")
    topic, group = f"{house.settings.queue_prefix}deleted", f"{house.settings.queue_prefix}deleted.readers"
    sender = AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=topic)
    await sender.start()
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()

    async def send(transactions: int) -> None:
        for _ in range(transactions):
            async with sender.transaction():
                await sender.send_and_wait(topic, b"{}", partition=0)

    async def read(messages: int) -> tuple[list[int], list[Any]]:
        stop, offsets = asyncio.Event(), list[int]()

        async def handle(records: Sequence[Record]) -> None:
            offsets.extend(record.offset for record in records)
            if len(offsets) >= messages:
                stop.set()

        with capture_logs() as logs:
            await asyncio.wait_for(StreamReader(bootstrap, topic, group, WorkerHealth("reader")).run(handle, stop), 60)
        return offsets, [each for each in logs if each["event"].startswith("messages were deleted")]

    try:
        await send(3)
        assert await read(3) == ([0, 2, 4], [])  # a marker after each
        await send(5)
        await admin.delete_records({TopicPartition(topic, 0): RecordsToDelete(before_offset=12)})
        offsets, told = await read(2)
    finally:
        await sender.stop()
        await admin.close()
    assert offsets == [12, 14]
    assert [(each["messages"], each["first"], each["after"]) for each in told] == [(7, 5, 12)]
    assert total(MESSAGES_FORGOTTEN, group=group) == 7


@pytest.mark.long
async def test_slow_work_keeps_nothing_of_what_was_fetched_for_paused_partitions(house: House) -> None:
    bootstrap, topic = house.settings.required("kafka_bootstrap"), f"{house.settings.queue_prefix}slowly"
    publisher = StreamPublisher(bootstrap)
    for first in range(0, 12_000, 1_000):
        await publisher.publish(topic, [StreamMessage(b"%d" % n, bytes(200)) for n in range(first, first + 1_000)])
    await publisher.close()
    stop, fetched = asyncio.Event(), list[int]()

    async def handle(_: Sequence[Record]) -> None:
        fetched.append(sum(isinstance(each, PartitionRecords) for each in gc.get_objects()))
        await asyncio.sleep(_LONGER_THAN_WAITED_FOR_S)
        if len(fetched) == 4:
            stop.set()

    gc.disable()
    try:
        await asyncio.wait_for(StreamReader(bootstrap, topic, topic, WorkerHealth("reader")).run(handle, stop), 60)
        partitions = len(await _partitions(bootstrap, topic))
    finally:
        gc.enable()
    assert max(fetched) <= partitions


async def _partitions(bootstrap: str, topic: str) -> list[int]:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        [described] = await admin.describe_topics([topic])
        return [each["partition"] for each in described["partitions"]]
    finally:
        await admin.close()


async def _transfers(house: House, count: int) -> bool:
    return await house.transfers() >= count


async def _all_read(house: House, count: int) -> bool:
    """Every offset of the topic is committed by the calculators' group."""
    admin = AIOKafkaAdminClient(bootstrap_servers=house.settings.required("kafka_bootstrap"))
    await admin.start()
    try:
        offsets = await admin.list_consumer_group_offsets(f"{house.settings.queue_prefix}calculator")
        return sum(committed.offset for committed in offsets.values()) == count
    finally:
        await admin.close()
