"""The workers `substream` and `counter` on the real stack: counters of a sub-stream equal a plain count of the large
topic.
"""

import random

import pytest

from abacus.platform.kafka.offsets import groupless_consumer, partitions_of
from abacus.signals.events.decide.source import substream_topic
from tests.signals.counters.counting import CountingHouse, counting_house, mixed
from tests.signals.counters.rides import COUNTERS, plain_count, rides, tallies
from tests.support.house import House

NOISE = (b'{"type": "ride.lost"}', b'{"type": "driver.moved", "id": "1"}', b"no JSON")
MISFIT = b'{"type": "ride.done", "id": 7}'


@pytest.fixture
async def counting(house: House) -> CountingHouse:
    return await counting_house(house, substream=True)


async def messages(counting: CountingHouse) -> int:
    """How many messages the sub-stream has."""
    bootstrap = counting.house.settings.required("kafka_bootstrap")
    topic = substream_topic(counting.source.name, counting.house.settings.events_topic)
    async with groupless_consumer(bootstrap) as consumer:
        return sum((await consumer.end_offsets(await partitions_of(bootstrap, topic))).values())


async def test_counters_read_a_sub_stream_with_what_they_ask_for(counting: CountingHouse) -> None:
    sent = rides(300, random.Random(1))
    definitions = await counting.publish(*COUNTERS)
    await counting.send(mixed(mixed(sent, 1, NOISE), 60, [MISFIT]))
    async with counting.house.running("substream", "counter"):
        await counting.seen(310)
    assert await counting.sums() == plain_count(sent, definitions)
    assert (await tallies(counting.house.pool)).set_aside == 10
    assert await messages(counting) == 310


@pytest.mark.long
async def test_kill_9_of_the_copier_again_and_again_counts_nothing_twice(counting: CountingHouse) -> None:
    rng = random.Random(2)
    sent = rides(2000, rng)
    definitions = await counting.publish(*COUNTERS)
    async with counting.house.running("counter"):
        for start in range(4):
            async with counting.house.process("substream") as worker:
                wave = sent[start::4]
                await counting.send(mixed(wave, 1, NOISE))
                await counting.seen(start * 500 + rng.randint(1, 400))  # somewhere in the middle of the wave
                worker.kill()
        async with counting.house.process("substream"):
            await counting.counted(2000)
    assert await counting.sums() == plain_count(sent, definitions)
