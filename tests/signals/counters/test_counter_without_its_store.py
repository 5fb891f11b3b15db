"""The worker `counter` while its store is away: it waits, commits nothing, and goes on by itself."""

import random
from dataclasses import replace

import pytest

from abacus.platform.health import WorkerState
from abacus.platform.kafka.offsets import admin_client, partitions_of
from abacus.platform.metrics import PARTITIONS_PAUSED
from abacus.signals.counters.decide.account import EventFates
from tests.signals.counters.away import store_behind_proxy
from tests.signals.counters.counting import CountingHouse
from tests.signals.counters.rides import COUNTERS, plain_count, rides, tallies
from tests.support.house import until


async def committed(counting: CountingHouse) -> int:
    """How many rides lie before the offsets that the counter's group has committed."""
    settings = counting.house.settings
    bootstrap, group = settings.required("kafka_bootstrap"), f"{settings.queue_prefix}counter-{counting.topic}"
    partitions = await partitions_of(bootstrap, counting.topic)
    async with admin_client(bootstrap) as admin:
        found = await admin.list_consumer_group_offsets(group, partitions=partitions)
    return sum(max(0, each.offset) for each in found.values())


def paused(topic: str) -> bool:
    """Whether partitions of the topic are paused in this process."""
    samples = [sample for metric in PARTITIONS_PAUSED.collect() for sample in metric.samples]
    return any(sample.value > 0 for sample in samples if sample.labels["topic"] == topic)


@pytest.mark.long
async def test_it_waits_with_its_partitions_paused_and_goes_on(counting: CountingHouse) -> None:
    before, meanwhile = rides(200, random.Random(1)), rides(200, random.Random(2), first=200)
    definitions = await counting.publish(*COUNTERS)
    async with (
        store_behind_proxy(counting) as store,
        replace(counting.house, settings=store.settings).running("counter") as health,
    ):
        worker = health.worker("counter")

        async def all_committed() -> bool:
            return await committed(counting) == 200

        async def waits_paused() -> bool:
            return worker.state is WorkerState.WAITING and paused(counting.topic)

        async def ready() -> bool:
            return worker.state is WorkerState.READY

        await counting.send(before)
        await counting.seen(200)
        await until(all_committed)
        await store.proxy.cut()
        await counting.send(meanwhile)
        await until(waits_paused)
        assert worker.detail.startswith(f"{store.name}: ")
        assert (await tallies(counting.house.pool)).seen == 200
        assert await all_committed()
        await store.proxy.mend()
        await counting.seen(400)
        await until(ready)
    assert await counting.sums() == plain_count([*before, *meanwhile], definitions)
    assert await tallies(counting.house.pool) == EventFates(400, counted=400, ignored=0, repeated=0, set_aside=0)
