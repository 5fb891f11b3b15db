"""Lookups answered from a store, with and without kept parts."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from abacus.core.errors import Unavailable
from abacus.platform.reading.part_cache import PartCache
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.reading.closed_parts import closed_parts
from abacus.signals.counters.reading.rounds import Rounds
from abacus.signals.counters.reading.service import CountService
from abacus.signals.counters.reading.types import Counted, Lookup, NotCounted, Why
from tests.signals.counters.reading.asking import DAY_S, HOUR_S, NOW, NOW_S, WatchedStore, catalog, definition, events
from tests.support.fixed_clock import FixedClock
from tests.support.memory_counters import MemoryCounterStore

RAIN = definition()
RETIRED_AT = NOW - timedelta(days=2)
SNOW = definition("snow:{city_id}", id=60, name="count_snow", retired_at=RETIRED_AT)
COSTS = definition("costs:{city_id}", id=7, name="costs", add="var.amount", decimals=2)
WEEK = 7 * DAY_S
LATE_BY_S = 2 * DAY_S


@dataclass
class Scene:
    """A service on a store that is watched."""

    within_s: float = 5
    keeps: Callable[[Definition], bool] = lambda _: True
    at_once: int = 2
    clock: FixedClock = field(default_factory=lambda: FixedClock(NOW))

    def __post_init__(self) -> None:
        self.store = WatchedStore(MemoryCounterStore(self.clock))
        parts = PartCache(closed_parts(1000), clock=self.clock)
        rounds = Rounds(self.store, within_s=self.within_s, parts=parts, at_once=self.at_once)
        known = catalog(RAIN, SNOW, COSTS)
        self.service = CountService(lambda: known, rounds, parts, self.clock, late_by_s=LATE_BY_S, keeps=self.keeps)

    async def counts(self, *lookups: Lookup) -> list[int | Why]:
        outcomes = await self.service.counts(lookups)
        return [each.units if isinstance(each, Counted) else each.why for each in outcomes]


def week(city: int) -> Lookup:
    return Lookup(f"rain:{city}", NOW_S - WEEK, NOW_S)


async def test_each_lookup_has_its_count_or_its_reason() -> None:
    scene = Scene()
    await scene.store.save(events(RAIN, "rain:7", {NOW_S - HOUR_S: 3, NOW_S - 5 * DAY_S: 20}))
    await scene.store.save(events(RAIN, "rain:7", {NOW_S - HOUR_S: 100}, writer=2))
    await scene.store.save(events(COSTS, "costs:7", {NOW_S - HOUR_S: 1050}))
    outcomes = await scene.service.counts(
        [
            week(7),
            Lookup("rain:7", NOW_S - DAY_S, NOW_S),
            week(8),
            Lookup("hail:7", NOW_S - WEEK, NOW_S),
            Lookup("snow:7", NOW_S - WEEK, NOW_S),
            Lookup("snow:7", NOW_S - WEEK, NOW_S - 2 * DAY_S),
            Lookup("rain:7", NOW_S, NOW_S - 1),
            Lookup("rain:7", NOW_S - 20 * DAY_S - 900, NOW_S),
            Lookup("rain:7", 0, 10**12),
            Lookup("costs:7", NOW_S - DAY_S, NOW_S),
        ]
    )
    begin, end = NOW_S // 900 * 900 - WEEK, NOW_S // 900 * 900
    assert outcomes == [
        Counted(begin, end, 123, 0),
        Counted(begin + 6 * DAY_S, end, 103, 0),
        Counted(begin, end, 0, 0),
        NotCounted(
            Why.UNKNOWN_KEY,
            "there is no counter with a key such as 'hail:7'; `abacus counters list` prints their templates",
        ),
        NotCounted(Why.RETIRED, "count_snow counts no more since 2026-06-08T12:07:00+00:00"),
        Counted(begin, end - 2 * DAY_S, 0, 0),
        NotCounted(Why.TO_BEFORE_FROM, "`to` is before `from`"),
        NotCounted(
            Why.BEYOND_KEEP,
            "count_rain keeps quarters for 8d, and the range needs that of 2026-05-21T11:45:00+00:00",
        ),
        NotCounted(Why.INVALID, "the range is not between the years 1970 and 3000"),
        Counted(begin + 6 * DAY_S, end, 1050, 2),
    ]


async def test_only_the_open_end_is_read_again() -> None:
    scene = Scene()
    await scene.store.save(events(RAIN, "rain:7", {NOW_S - HOUR_S: 3, NOW_S - 5 * DAY_S: 20}))
    assert await scene.counts(week(7)) == [23]
    await scene.store.save(events(RAIN, "rain:7", {NOW_S - HOUR_S: 4}, writer=2))
    assert await scene.counts(week(7)) == [27]
    first, second = scene.store.asked
    assert set(second) < set(first)
    assert all(
        range_.first not in {each.first for each in first} - {each.first for each in second} for range_ in second
    )


async def test_a_range_that_is_closed_whole_needs_no_store() -> None:
    scene = Scene()
    past = Lookup("rain:7", NOW_S - WEEK, NOW_S - 3 * DAY_S)
    assert await scene.counts(past) == [0]
    scene.store.away = Unavailable("database", "it is away")
    assert await scene.counts(past, week(7)) == [0, Why.UNAVAILABLE]


async def test_a_kept_part_lags_behind_what_is_too_late_but_not_for_long() -> None:
    scene = Scene()
    assert await scene.counts(week(7)) == [0]
    await scene.store.save(events(RAIN, "rain:7", {NOW_S - 5 * DAY_S: 20}))
    assert await scene.counts(week(7)) == [0]
    scene.clock.set(NOW + timedelta(hours=1))
    assert await scene.counts(Lookup("rain:7", NOW_S - WEEK, NOW_S)) == [20]


async def test_what_the_share_leaves_out_is_always_read() -> None:
    scene = Scene(keeps=lambda definition: definition.id % 100 < 35)
    for _ in range(2):
        await scene.counts(week(7))
        await scene.counts(Lookup("costs:7", NOW_S - WEEK, NOW_S))
    rain_again, costs_again = scene.store.asked[2:]
    assert len(rain_again) < len(scene.store.asked[0])
    assert len(costs_again) < len(scene.store.asked[1])
    unkept = Scene(keeps=lambda definition: definition.id % 100 < 34)
    for _ in range(2):
        await unkept.counts(week(7))
    assert unkept.store.asked[0] == unkept.store.asked[1]


async def test_requests_that_come_together_are_read_together_and_each_range_once() -> None:
    scene = Scene(at_once=1, keeps=lambda _: False)
    scene.store.talks.clear()
    alone = asyncio.create_task(scene.counts(week(1)))
    while not scene.store.asked:  # noqa: ASYNC110  # its round is under way
        await asyncio.sleep(0)
    others = [asyncio.create_task(scene.counts(week(city), week(3))) for city in (2, 3, 2)]
    for _ in range(100):  # nothing but the store takes time, so they all wait for the end of that round then
        await asyncio.sleep(0)
    scene.store.talks.set()
    await asyncio.gather(alone, *others)
    assert len(scene.store.asked) == 2
    together = scene.store.asked[1]
    assert len(together) == len(set(together))
    assert {each.key for each in together} == {RAIN.stored_key("rain:2"), RAIN.stored_key("rain:3")}


@pytest.mark.parametrize("silent", [False, True])
async def test_a_store_that_is_away_costs_lookups_their_counts_and_nobody_much_time(*, silent: bool) -> None:
    scene = Scene(within_s=0.05)
    if silent:
        scene.store.talks.clear()
    else:
        scene.store.away = Unavailable("database", "it is away")
    for _ in range(5):
        assert await scene.counts(week(7), Lookup("hail:7", 0, 1)) == [Why.UNAVAILABLE, Why.UNKNOWN_KEY]
    assert len(scene.store.asked) == 3  # then the breaker is open


async def test_an_empty_range_is_nothing() -> None:
    scene = Scene()
    assert await scene.counts(Lookup("rain:7", NOW_S - 5, NOW_S)) == [0]
    assert scene.store.asked == []
