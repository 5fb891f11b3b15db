"""What a topic held before a definition began is counted beside the live worker, once."""

import random

import pytest

from tests.signals.counters.backfilling import LONG_AGO, backfill, fares, published_behind
from tests.signals.counters.counting import CountingHouse
from tests.signals.counters.rides import FARES_OF_CITY, plain_count, rides, tallies


@pytest.mark.long
async def test_the_time_before_is_counted_once_however_often_it_is_run(counting: CountingHouse) -> None:
    before, after = rides(400, random.Random(1)), rides(100, random.Random(2), first=400)
    late = await published_behind(counting, before)
    ran = [await backfill(counting, "fares_of_city", "--from", LONG_AGO, "--json") for _ in range(2)]
    assert [each.code for each in ran] == [0, 0]
    [rides_topic] = [each for each in ran[0].json["topics"] if each["topic"] == counting.topic]
    assert rides_topic == {"topic": counting.topic, "done": 400, "of": 400, "counted": 400}
    assert ran[1].json == ran[0].json
    async with counting.house.running("counter"):
        await counting.send(after)
        await counting.seen(400 + 400 + 100)
    assert await fares(counting) == plain_count([*before, *after], late)
    await tallies(counting.house.pool)


@pytest.mark.long
async def test_a_ride_that_was_repeated_across_the_hand_over_counts_once(counting: CountingHouse) -> None:
    before = rides(100, random.Random(3))
    late = await published_behind(counting, before)
    repeated, after = before[::4], rides(100, random.Random(4), first=100)
    async with counting.house.running("counter"):
        await counting.send([*repeated, *after])
        await counting.seen(100 + len(repeated) + 100)
    assert (await backfill(counting, "fares_of_city", "--from", LONG_AGO)).code == 0
    assert await fares(counting) == plain_count([*before, *after], late)
    told = await counting.house.pool.fetch("select name from counter_setting")  # so that lookups keep nothing of before
    assert [name for (name,) in told] == ["replayed:2"]


@pytest.mark.parametrize(
    ("name", "since", "code", "said"),
    [
        ("nothing", LONG_AGO, 1, "there is no counter 'nothing'"),
        ("fares_of_city", "yesterday", 2, "--from: 'yesterday' is not a time"),
        ("fares_of_city", LONG_AGO, 2, "has not begun yet in"),
    ],
)
async def test_what_cannot_be_backfilled(counting: CountingHouse, name: str, since: str, code: int, said: str) -> None:
    await counting.publish(FARES_OF_CITY)
    await counting.send(rides(1, random.Random(5)))
    ran = await backfill(counting, name, "--from", since)
    assert ran.code == code
    assert said in ran.err
