"""Tests that need a real Kafka broker: several readers in one group.

The embedded broker holds one reader of a group; tests/simulation plays the group protocol instead. These run where
`ABACUS_TEST_KAFKA_BOOTSTRAP` names a broker.
"""

import os
import signal

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient

from abacus.cli.examples.stream import stream
from tests.support.house import House, until
from tests.support.outcomes import everything_awarded_once, settled

pytestmark = pytest.mark.skipif(
    not os.environ.get("ABACUS_TEST_KAFKA_BOOTSTRAP"), reason="ABACUS_TEST_KAFKA_BOOTSTRAP names no broker"
)


async def test_calculators_come_and_go_and_nothing_is_lost_or_skipped(house: House) -> None:
    messages = list(stream(8000))
    waves = [messages[start::4] for start in range(4)]
    expected = {sent.award for sent in messages if sent.award is not None}
    async with house.process("awarder", "retrier", "relay"), house.process("calculator") as first:
        await house.produce(waves[0])
        await until(lambda: _transfers(house, 1), within_s=60)
        async with house.process("calculator"), house.process("calculator") as third:
            await house.produce(waves[1])
            await until(lambda: _transfers(house, 2500), within_s=60)
            await house.produce(waves[2])
            first.send_signal(signal.SIGTERM)
            assert await first.wait() == 0
            third.kill()
            async with house.process("calculator"):
                await house.produce(waves[3])
                await until(lambda: settled(house, expected), within_s=120)
                await until(lambda: _all_read(house, len(messages)), within_s=60)
    await everything_awarded_once(house, messages)


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
