"""A backfill that ends in the middle goes on there when it is run again, and counts nothing twice."""

import asyncio
import os
import random
from pathlib import Path

import pytest

from tests.signals.counters.away import store_behind_proxy
from tests.signals.counters.backfilling import LONG_AGO, backfill, environment, fares, published_behind
from tests.signals.counters.barrier import Barrier
from tests.signals.counters.counting import CountingHouse
from tests.signals.counters.rides import Ride, plain_count, rides, tallies

RIDES = 120
PADDING = b" " * 20_000  # all of them are more than a fetch brings, so that they come in several batches
FARES = ("fares_of_city", "--from", LONG_AGO)


def padded(sent: list[Ride]) -> list[bytes]:
    """The rides' messages, which go to one partition."""
    return [each.body + PADDING for each in sent]


async def recorded(counting: CountingHouse) -> int:
    """How many events backfills have recorded as seen; the worker has seen each once."""
    return (await tallies(counting.house.pool)).seen - RIDES


async def first_batch(counting: CountingHouse, barrier: Barrier) -> None:
    """Lets the backfill write until its first batch is recorded."""
    while not await recorded(counting):
        await barrier.let_one_pass()


async def goes_on(counting: CountingHouse) -> None:
    """Runs it again, and sees that it ends."""
    ran = await backfill(counting, *FARES, "--json")
    assert ran.code == 0, ran.err
    [topic] = [each for each in ran.json["topics"] if each["topic"] == counting.topic]
    assert topic == {"topic": counting.topic, "done": RIDES, "of": RIDES, "counted": RIDES}


@pytest.mark.long
async def test_a_run_that_is_killed_between_the_rows_and_the_record(counting: CountingHouse) -> None:
    sent = rides(RIDES, random.Random(1))
    late = await published_behind(counting, padded(sent))
    async with Barrier(counting.house.settings.required("database_url"), "counter_tally") as barrier:
        command = ("counters", "backfill", *FARES)
        process = await counting.house.nursery.born(command, environment(counting), log=Path(os.devnull))
        await first_batch(counting, barrier)
        await barrier.somebody_waits()  # the rows of the second batch are saved
        process.kill()
        await process.wait()
        await barrier.end_those_who_wait()
    assert 0 < await recorded(counting) < RIDES
    await goes_on(counting)
    assert await fares(counting) == plain_count(sent, late)
    assert await recorded(counting) == RIDES


@pytest.mark.long
async def test_a_run_whose_store_goes_away(counting: CountingHouse) -> None:
    sent = rides(RIDES, random.Random(2))
    late = await published_behind(counting, padded(sent))
    async with (
        store_behind_proxy(counting) as store,
        Barrier(counting.house.settings.required("database_url"), "counter_tally") as barrier,
    ):
        running = asyncio.create_task(backfill(counting, *FARES, settings=store.settings))
        await first_batch(counting, barrier)
        await barrier.somebody_waits()
        await store.proxy.cut()
        await barrier.lift()
        ran = await running
    assert ran.code == 1
    assert f"abacus: {store.name} unavailable: " in ran.err
    assert 0 < await recorded(counting) <= RIDES
    await goes_on(counting)
    assert await fares(counting) == plain_count(sent, late)
    assert await recorded(counting) == RIDES
