"""Counting where several workers share a topic, and where topics are deleted: the embedded broker does neither."""

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from abacus.platform.kafka.topic_id import TopicIds
from abacus.signals.counters.decide.account import EventFates
from tests.signals.counters.counting import CountingHouse
from tests.signals.counters.rides import COUNTERS, Ride, plain_count, rides, tallies
from tests.support.house import until

pytestmark = pytest.mark.skipif(
    not os.environ.get("ABACUS_TEST_KAFKA_BOOTSTRAP"), reason="ABACUS_TEST_KAFKA_BOOTSTRAP names no broker"
)


@pytest.mark.long
async def test_workers_come_and_go_and_every_ride_counts_once(counting: CountingHouse) -> None:
    rng = random.Random(1)
    sent = rides(6000, rng)
    repeated = rng.sample(sent, 300)
    waves = [sent[start::4] for start in range(4)]
    async with admin(counting) as broker:
        await broker.create_topics([NewTopic(counting.topic, 4, 1)])
    definitions = await counting.publish(*COUNTERS)
    async with counting.house.process("counter") as first:
        await counting.send(waves[0])
        await counting.seen(500)
        async with counting.house.process("counter"), counting.house.process("counter") as third:
            await counting.send(waves[1])
            await counting.seen(2500)
            first.send(signal.SIGTERM)
            await counting.send(waves[2])
            await counting.seen(3500)
            third.kill()
            await counting.send(waves[3])
            await first.wait()
            async with counting.house.process("counter"):
                await counting.send(repeated)
                await counting.seen(6300)
    assert await counting.sums() == plain_count(sent, definitions)
    assert await tallies(counting.house.pool) == EventFates(6300, counted=6000, ignored=0, repeated=300, set_aside=0)


async def test_a_fresh_worker_begins_with_what_is_as_young_as_the_definition(counting: CountingHouse) -> None:
    old, young = rides(300, random.Random(2)), rides(300, random.Random(3), first=300)
    await counting.send(old)
    await asyncio.sleep(0.01)  # stamps are milliseconds
    definitions = await counting.publish(*COUNTERS)
    await counting.send(young)
    async with counting.house.running("counter"):
        await counting.seen(300)
    assert await counting.sums() == plain_count(young, definitions)
    assert (await tallies(counting.house.pool)).seen == 300


@pytest.mark.parametrize("while_", ["running", "stopped"])
async def test_a_topic_that_is_created_anew_is_counted_from_its_beginning(counting: CountingHouse, while_: str) -> None:
    """Its offsets are those of other events, whether or not it has grown beyond those that were counted."""
    old, young = rides(400, random.Random(4)), rides(900, random.Random(5), first=400)
    async with admin(counting) as broker:
        await broker.create_topics([NewTopic(counting.topic, 2, 1)])
    definitions = await counting.publish(*COUNTERS)
    async with counting.house.running("counter"):
        await counting.send(old)
        await counting.seen(400)
        if while_ == "running":
            await recreate(counting, young)
            await counting.seen(1300)
    if while_ == "stopped":
        await recreate(counting, young)
        async with counting.house.running("counter"):
            await counting.seen(1300)
    assert await counting.sums() == plain_count([*old, *young], definitions)
    assert await tallies(counting.house.pool) == EventFates(1300, counted=1300, ignored=0, repeated=0, set_aside=0)


@asynccontextmanager
async def admin(counting: CountingHouse) -> AsyncIterator[AIOKafkaAdminClient]:
    client = AIOKafkaAdminClient(bootstrap_servers=counting.house.settings.required("kafka_bootstrap"))
    await client.start()
    try:
        yield client
    finally:
        await client.close()


async def recreate(counting: CountingHouse, sent: list[Ride]) -> None:
    """Deletes the topic of rides, creates it anew, and sends these rides."""
    ids = TopicIds(counting.house.settings.required("kafka_bootstrap"))
    before = await ids.of(counting.topic)
    async with admin(counting) as broker:
        await broker.delete_topics([counting.topic])

        async def gone() -> bool:
            return await ids.of(counting.topic) != before

        await until(gone)
        await broker.create_topics([NewTopic(counting.topic, 2, 1)])
    await ids.close()
    await counting.send(sent)
