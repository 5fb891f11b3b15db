"""What only a real Kafka broker can show: several readers in one group.

The embedded broker holds one reader of a group; tests/simulation plays the group protocol instead. These run where
`ABACUS_TEST_KAFKA_BOOTSTRAP` names a broker.
"""

import os
import signal

import pytest
from aiokafka.admin import AIOKafkaAdminClient

from abacus.examples.stream import stream
from tests.integration.house import House, until
from tests.integration.test_faults import everything_awarded_once, settled

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
