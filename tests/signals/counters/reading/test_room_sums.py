"""What rooms add up by day, told as series: by the days of their clock, with zeros, and by the keys that rooms have."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Final
from zoneinfo import ZoneInfo

import pytest

from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.reading.decide.series_plan import MOST_SLOTS, SeriesPlanner
from abacus.signals.counters.reading.room_sums import HouseSums, What, key_of
from abacus.signals.counters.reading.types import Days, NotCounted, Series, SeriesLookup, Why
from abacus.signals.counters.types import Grain

KEY: Final = "@kitchen:soup:served"
BERLIN: Final = Days(ZoneInfo("Europe/Berlin"), {date(2026, 10, 24): 3, date(2026, 10, 26): 5, date(2026, 10, 27): 9})
NOW: Final = "2026-10-26T12:07:30"


def second(text: str) -> int:
    return int(datetime.fromisoformat(f"{text}+00:00").timestamp())


def told(begin: str, end: str, *, grain: Grain = Grain.DAY) -> Series | NotCounted:
    planner = SeriesPlanner(Catalog([], {}), second(NOW))
    return planner.days(SeriesLookup(KEY, second(begin), second(end), grain), BERLIN)


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
    assert [isinstance(each, Series) for each in found] == [True] * 20 + [False]


class Kitchen:
    """Served soups, and nothing else."""

    async def days(self, name: str, asked: Sequence[What]) -> Mapping[What, Days]:
        return {what: BERLIN for what in asked if name == "soup" and what[0] == "served"}


async def test_each_key_is_asked_of_its_room() -> None:
    keys = [
        KEY,
        "@kitchen:soup:served:hot",
        "@kitchen:soup:burnt",
        "@kitchen:cake:served",
        "@kitchen:soup",
        "@",
        "@bar:1:2",
    ]
    found = await HouseSums({"kitchen": Kitchen()}).days([*keys, "rides:7", KEY])
    assert list(found) == keys
    assert [each for each in keys if isinstance(found[each], Days)] == keys[:2]
    assert {each.why for each in found.values() if isinstance(each, NotCounted)} == {Why.UNKNOWN_KEY}
    assert key_of("kitchen", "soup", "served") == KEY
