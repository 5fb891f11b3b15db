"""The worker `counter` on the real stack: what it counted equals a plain count of what was sent."""

import random

import orjson
import pytest

from abacus.platform.metrics import total
from abacus.signals.counters.decide.account import EventFates
from abacus.signals.counters.metrics import COUNTER_NOT_COUNTED
from tests.signals.counters.counting import CountingHouse, mixed
from tests.signals.counters.rides import (
    CAR_RIDES,
    COUNTERS,
    FARES_OF_CITY,
    NO_RIDES,
    RIDES_OF_MEMBER,
    plain_count,
    ride,
    rides,
    tallies,
)
from tests.support.commands import abacus


async def test_sums_equal_a_plain_count_and_bad_events_are_set_aside(counting: CountingHouse) -> None:
    sent = rides(500, random.Random(1))
    definitions = await counting.publish(*COUNTERS)
    await counting.send(mixed(sent, 10, NO_RIDES))
    async with counting.house.running("counter"):
        await counting.seen(550)
    assert await counting.sums() == plain_count(sent, definitions)
    # Each third of what is no ride is not JSON, another type, or a ride without a time.
    assert await tallies(counting.house.pool) == EventFates(seen=550, counted=500, ignored=17, repeated=0, set_aside=33)
    assert sum((await counting.house.reasons()).values()) == 33


async def test_a_metric_says_for_which_definition_events_lack_a_variable(counting: CountingHouse) -> None:
    await counting.publish(*COUNTERS)
    lacking = {"definition": "fares_of_city", "reason": "missing"}
    before = total(COUNTER_NOT_COUNTED, **lacking)
    document = orjson.loads(ride(1).body)
    del document["fare"]
    await counting.send([orjson.dumps(document), ride(2)])
    async with counting.house.running("counter"):
        await counting.seen(2)
    assert total(COUNTER_NOT_COUNTED, **lacking) - before == 1


async def test_the_account_of_each_partition_comes_out(counting: CountingHouse) -> None:
    sent = rides(200, random.Random(6))
    await counting.publish(*COUNTERS)
    await counting.send(mixed(sent, 10, NO_RIDES))
    async with counting.house.running("counter"):
        await counting.seen(220)
    env = counting.house.environment()
    ran = await abacus("counters", "reconcile", env=env)
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "220 events: it comes out")
    document = (await abacus("counters", "reconcile", counting.topic, "--json", env=env)).json
    assert document["comes_out"]
    partitions = document["partitions"]
    assert {(each["generation"], each["counter"], each["without_event"]) for each in partitions} == {(1, None, 0)}
    assert sum(each["seen"] for each in partitions) == 220
    await counting.house.pool.execute("update counter_tally set counted = counted + 1 where seen > 0")
    ran = await abacus("counters", "reconcile", env=env)
    assert (ran.code, ran.out.splitlines()[-1]) == (1, "220 events: IT DOES NOT COME OUT")


@pytest.mark.long
async def test_a_ride_that_its_sender_repeats_counts_once_also_after_a_restart(counting: CountingHouse) -> None:
    sent = rides(60, random.Random(2))
    definitions = await counting.publish(*COUNTERS)
    async with counting.house.running("counter"):
        await counting.send([*sent, *sent])
        await counting.seen(120)
    async with counting.house.running("counter"):
        await counting.send(sent)
        await counting.seen(180)
    assert await counting.sums() == plain_count(sent, definitions)
    assert await tallies(counting.house.pool) == EventFates(seen=180, counted=60, ignored=0, repeated=120, set_aside=0)


async def test_a_definition_counts_what_comes_after_it_was_published(counting: CountingHouse) -> None:
    before, after = rides(200, random.Random(3)), rides(200, random.Random(4), first=200)
    early = await counting.publish(RIDES_OF_MEMBER)
    async with counting.house.running("counter"):
        await counting.send(before)
        await counting.seen(200)
        late = await counting.publish(FARES_OF_CITY, CAR_RIDES)
        for definition in late:
            await counting.begun(definition, 8)  # four partitions of the topic of rides, and of that of all events
        await counting.send(after)
        await counting.seen(400)
    expected = {**plain_count([*before, *after], early), **plain_count(after, late)}
    assert await counting.sums() == expected


@pytest.mark.long
@pytest.mark.services
@pytest.mark.parametrize("counting", ["postgres", pytest.param("cassandra", marks=pytest.mark.night)], indirect=True)
async def test_kill_9_again_and_again_loses_nothing_and_counts_nothing_twice(counting: CountingHouse) -> None:
    rng = random.Random(5)
    sent = rides(2000, rng)
    waves = [sent[start::4] for start in range(4)]
    definitions = await counting.publish(*COUNTERS)
    seen = 0
    for wave in waves:
        async with counting.house.process("counter") as worker:
            repeated = rng.sample(wave, 50)
            await counting.send([*wave, *repeated])
            await counting.seen(seen + rng.randint(1, 400))  # somewhere in the middle of the wave
            worker.kill()
        seen += len(wave) + len(repeated)
    async with counting.house.process("counter"):
        await counting.seen(seen)
    assert await counting.sums() == plain_count(sent, definitions)
    assert await tallies(counting.house.pool) == EventFates(
        seen=seen, counted=2000, ignored=0, repeated=200, set_aside=0
    )
