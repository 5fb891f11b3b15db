"""What rooms add up by day, told as series: by the days of their clock, with zeros, and by the keys that rooms have."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Final
from zoneinfo import ZoneInfo

import pytest

from abacus.platform.postgres import Pool
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.reading.day_counts import by_kind_and_part
from abacus.signals.counters.reading.decide.series_plan import MOST_SLOTS, DayPlan, SeriesPlanner, fault_of_days
from abacus.signals.counters.reading.room_sums import Counts, HouseSums, Told, What, key_of
from abacus.signals.counters.reading.series_service import SeriesService
from abacus.signals.counters.reading.types import NotCounted, Series, SeriesLookup, Why
from abacus.signals.counters.store.postgres import PostgresCounterStore
from abacus.signals.counters.types import Grain
from tests.support.fixed_clock import FixedClock

KEY: Final = "@kitchen:soup:served"
BERLIN: Final = ZoneInfo("Europe/Berlin")
COUNTS: Final = {date(2026, 10, 24): 3, date(2026, 10, 26): 5, date(2026, 10, 27): 9}
NOW: Final = "2026-10-26T12:07:30"


def second(text: str) -> int:
    return int(datetime.fromisoformat(f"{text}+00:00").timestamp())


def told(begin: str, end: str, *, grain: Grain = Grain.DAY) -> Series | NotCounted:
    planner = SeriesPlanner(Catalog([], {}), second(NOW))
    lookup = SeriesLookup(KEY, second(begin), second(end), grain)
    if (fault := fault_of_days(lookup)) is not None:
        return fault
    plan = planner.days(lookup, BERLIN)
    return plan if isinstance(plan, NotCounted) else plan.series(COUNTS)


def test_every_day_of_the_clock_that_holds_a_moment_of_the_range_is_told() -> None:
    """Sunday had 25 hours; the day of the present is open, and what is to come is left out."""
    found = told("2026-10-23T22:00:00", "2026-10-30T00:00:00")
    assert isinstance(found, Series)
    begins = [datetime.fromtimestamp(each, UTC).strftime("%d %H:%M") for each in found.begins]
    assert (begins, found.values, found.is_open) == (["23 22:00", "24 22:00", "25 23:00"], [3, 0, 5], True)
    closed = told("2026-10-24T00:00:00", "2026-10-25T23:00:00")
    assert isinstance(closed, Series)
    assert (closed.values, closed.is_open) == ([3, 0], False)


@pytest.mark.parametrize(
    ("begin", "end", "grain", "why"),
    [
        ("2026-10-24T00:00:00", "2026-10-25T00:00:00", Grain.HOUR, Why.NOT_KEPT),
        ("2026-10-24T00:00:00", "2026-10-23T00:00:00", Grain.DAY, Why.TO_BEFORE_FROM),
        ("2020-01-01T00:00:00", "2026-01-01T00:00:00", Grain.DAY, Why.TOO_MANY_SLOTS),
    ],
)
def test_what_cannot_be_told(begin: str, end: str, grain: Grain, why: Why) -> None:
    found = told(begin, end, grain=grain)
    assert isinstance(found, NotCounted)
    assert found.why is why


def test_days_and_counters_share_the_bound_of_a_request() -> None:
    planner = SeriesPlanner(Catalog([], {}), second(NOW))
    end = second("2026-10-26T00:00:00")
    lookup = SeriesLookup(KEY, end - (MOST_SLOTS - 1) * 86400, end, Grain.DAY)
    found = [planner.days(lookup, BERLIN) for _ in range(21)]
    assert [isinstance(each, DayPlan) for each in found] == [True] * 20 + [False]


class Soup:
    """Served or burnt, on the days of `COUNTS`. It knows on which days it was asked for what."""

    zone: Final = BERLIN

    def __init__(self) -> None:
        self.asked: list[tuple[list[What], date, date]] = []

    def tells(self, what: What) -> bool:
        return what[0] in {"served", "burnt"}

    async def counts(self, asked: Sequence[What], since: date, until: date) -> Mapping[What, Counts]:
        self.asked.append((list(asked), since, until))
        within = {day: count for day, count in COUNTS.items() if since <= day <= until}
        return {what: within if what[0] == "served" else {} for what in asked}


class Kitchen:
    """It has soup, and nothing else."""

    def __init__(self) -> None:
        self.soup = Soup()
        self.looked_for: list[str] = []

    async def of(self, name: str) -> Soup | None:
        self.looked_for.append(name)
        return self.soup if name == "soup" else None


async def test_each_key_is_asked_of_its_room() -> None:
    keys = [
        KEY,
        "@kitchen:soup:served:hot",
        "@kitchen:soup:raw",
        "@kitchen:cake:served",
        "@kitchen:soup",
        "@",
        "@bar:1",
    ]
    kitchen = Kitchen()
    found = await HouseSums({"kitchen": kitchen}).told([*keys, KEY])
    assert list(found) == keys
    assert [each for each in keys if isinstance(found[each], Told)] == keys[:2]
    assert {each.why for each in found.values() if isinstance(each, NotCounted)} == {Why.UNKNOWN_KEY}
    assert (kitchen.looked_for, kitchen.soup.asked) == (["soup", "cake"], [])
    assert key_of("kitchen", "soup", "served") == KEY


def day(key: str, begin: str, end: str, *, grain: Grain = Grain.DAY) -> SeriesLookup:
    return SeriesLookup(key, second(f"2026-10-{begin}"), second(f"2026-10-{end}"), grain)


async def series(pool: Pool, kitchen: Kitchen, *lookups: SeriesLookup) -> list[Sequence[object] | Why]:
    clock, sums = FixedClock(datetime.fromisoformat(f"{NOW}+00:00")), HouseSums({"kitchen": kitchen})
    service = SeriesService(lambda: Catalog([], {}), PostgresCounterStore(pool, clock), clock, sums=sums, within_s=30)
    return [each.values if isinstance(each, Series) else each.why for each in await service.series(lookups)]


async def test_a_document_is_read_once_on_the_days_that_are_asked_for(pool: Pool) -> None:
    kitchen = Kitchen()
    burnt = key_of("kitchen", "soup", "burnt")
    first, both = day(KEY, "24T00:00:00", "24T10:00:00"), day(burnt, "25T00:00:00", "27T00:00:00")
    none = day(KEY, "25T00:00:00", "25T00:00:00")
    assert await series(pool, kitchen, first, both, none) == [[3], [0, 0], []]
    assert kitchen.soup.asked == [([("served",), ("burnt",)], date(2026, 10, 24), date(2026, 10, 26))]


async def test_nothing_is_read_for_what_cannot_be_told(pool: Pool) -> None:
    kitchen = Kitchen()
    hours, back = day(KEY, "24T00:00:00", "25T00:00:00", grain=Grain.HOUR), day(KEY, "25T00:00:00", "24T00:00:00")
    assert await series(pool, kitchen, hours, back) == [Why.NOT_KEPT, Why.TO_BEFORE_FROM]
    assert kitchen.looked_for == []
    assert await series(pool, kitchen, SeriesLookup(KEY, 0, second(NOW), Grain.DAY)) == [Why.TOO_MANY_SLOTS]
    assert (kitchen.looked_for, kitchen.soup.asked) == (["soup"], [])


async def test_others_go_on_while_rows_become_counts() -> None:
    days = [date(2026, 10, 24), date(2026, 10, 25)]
    rows = [("served", part, day, 1) for part in ("hot", "cold", None) for day in days for _ in range(10_000)]
    work = asyncio.create_task(by_kind_and_part(rows))
    turns = 0
    while not work.done():
        await asyncio.sleep(0)
        turns += 1
    each, whole = dict.fromkeys(days, 10_000), dict.fromkeys(days, 30_000)
    assert work.result() == {("served", "hot"): each, ("served", "cold"): each, ("served", None): whole}
    assert turns > 2, "one before the work begins, and one where it has ended"
