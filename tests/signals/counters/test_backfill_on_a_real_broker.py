"""Backfills from a moment on, and then from an earlier one: the embedded broker knows no times."""

import os
import random
from datetime import UTC, datetime

import pytest

from tests.signals.counters.backfilling import LONG_AGO, backfill, begun_behind, fares
from tests.signals.counters.counting import CountingHouse
from tests.signals.counters.rides import RIDES_OF_MEMBER, plain_count, rides, tallies
from tests.support.house import until

pytestmark = pytest.mark.skipif(
    not os.environ.get("ABACUS_TEST_KAFKA_BOOTSTRAP"), reason="ABACUS_TEST_KAFKA_BOOTSTRAP names no broker"
)


async def counted_from(counting: CountingHouse, moment: str) -> tuple[int, int]:
    """Runs a backfill, and returns how many events of the rides were counted, of how many that were read."""
    ran = await backfill(counting, "fares_of_city", "--from", moment, "--json")
    assert ran.code == 0, ran.err
    [topic] = [each for each in ran.json["topics"] if each["topic"] == counting.topic]
    assert topic["done"] == topic["of"]
    return topic["counted"], topic["of"]


async def test_an_earlier_moment_adds_what_is_older_and_counts_nothing_twice(counting: CountingHouse) -> None:
    """Rides that their sender repeats in a later part, or to the live worker, count once."""
    older, younger, live = (rides(100, random.Random(seed), first=100 * seed) for seed in (1, 2, 3))
    await counting.publish(RIDES_OF_MEMBER)
    await counting.send(older)
    middle = datetime.now(UTC)

    async def a_millisecond_later() -> bool:
        return (datetime.now(UTC) - middle).total_seconds() > 0.002

    await until(a_millisecond_later)
    await counting.send([*younger, *older[::10]])
    late = await begun_behind(counting, 210)
    async with counting.house.running("counter"):
        await counting.send([*live, *older[5::10], *younger[::10]])
        await counting.seen(210 + 120)

    since = middle.isoformat()
    assert await counted_from(counting, since) == (110, 110)
    assert await fares(counting) == plain_count([*older[::10], *younger, *live], late)
    assert await counted_from(counting, LONG_AGO) == (200, 210)
    assert await fares(counting) == plain_count([*older, *younger, *live], late)
    assert [await counted_from(counting, each) for each in (LONG_AGO, since)] == [(200, 210)] * 2
    assert await fares(counting) == plain_count([*older, *younger, *live], late)
    await tallies(counting.house.pool)
