"""A range of time is tiled exactly, by the slots in which its events are counted."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.definition_document import parse_definition
from abacus.signals.counters.decide.grid import begin_of, grain_of, slot_of
from abacus.signals.counters.decide.tiles import (
    SPARE_S,
    BeyondKeep,
    ImpossibleRange,
    floor_quarter,
    slots_of,
    tile,
)
from abacus.signals.counters.types import QUARTER_S, Grain, SlotRange
from tests.signals.counters.weather import RAIN, SOURCES, counter
from tests.signals.counters.zones import ZONES
from tests.support.paths import GOLDEN

CASES = json.loads((GOLDEN / "counters.json").read_text("utf-8"))["cases"]
NAMES = {Grain.QUARTER: "quarters", Grain.HOUR: "hours", Grain.DAY: "days"}
DAY_S = 86_400
FIRST, LAST = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (1971, 2035))
KEEPS: list[dict[str, str]] = [{}, {"hours": "0"}, {"days": "0"}, {"hours": "0", "days": "0"}]


def second(moment: str) -> int:
    return int(datetime.fromisoformat(moment).timestamp())


def slots_in(definition: Definition, ranges: list[SlotRange]) -> Iterator[tuple[Grain, int]]:
    """Each slot of the ranges, with its beginning, walked one by one."""
    for _, first, end in ranges:
        at = begin_of(first)
        while at < begin_of(end):
            yield grain_of(first), at
            at = definition.grid.span(grain_of(first), at).end


@pytest.mark.parametrize("case", [pytest.param(each, id=each["name"]) for each in CASES])
def test_golden(case: dict[str, Any]) -> None:
    definition = parse_definition({**RAIN, **case["definition"]}, SOURCES)
    begin, end = case["query"]["from"], case["query"]["to"]
    assert [floor_quarter(begin), floor_quarter(end)] == [second(each) for each in case["floored"]]
    tiles = list(slots_in(definition, tile(definition, "1", begin, end, now=end)))
    of_grain = {name: [at for grain, at in tiles if NAMES[grain] == name] for name in NAMES.values()}
    assert of_grain == {name: [second(each) for each in case["tiles"][name]] for name in NAMES.values()}
    rows = {(name, second(at)): count for name in NAMES.values() for at, count in case["rows"][name]}
    assert sum(rows.get((NAMES[grain], at), 0) for grain, at in tiles) == case["count"]


@given(
    st.sampled_from(ZONES),
    st.sampled_from(KEEPS),
    st.integers(FIRST, LAST),
    st.integers(0, 5 * DAY_S),
    st.lists(st.integers(-DAY_S, 6 * DAY_S), max_size=30),
)
def test_counts_through_slots_are_a_plain_count(
    zone: str, keep: dict[str, str], begin: int, length: int, events: list[int]
) -> None:
    definition = counter(timezone=zone, keep=keep)
    rows = Counter(kept.slot for each in events for kept in slots_of(definition, begin + each))
    ranges = tile(definition, "1", begin, begin + length, now=begin)
    counted = sum(rows[slot] for slot in rows for _, first, end in ranges if first <= slot < end)
    lowest, highest = floor_quarter(begin), floor_quarter(begin + length)
    assert counted == sum(lowest <= begin + each < highest for each in events)


@given(st.sampled_from(ZONES), st.sampled_from(KEEPS), st.integers(FIRST, LAST), st.integers(0, 5 * DAY_S))
def test_tiles_are_whole_slots_that_are_kept_and_cover_the_range_once(
    zone: str, keep: dict[str, str], begin: int, length: int
) -> None:
    definition = counter(timezone=zone, keep=keep)
    tiles = list(slots_in(definition, tile(definition, "1", begin, begin + length, now=begin)))
    ends = [definition.grid.span(grain, at).end for grain, at in tiles]
    assert all(grain in definition.keep and definition.grid.span(grain, at).begin == at for grain, at in tiles)
    borders = [at for _, at in tiles]
    lowest, highest = floor_quarter(begin), floor_quarter(begin + length)
    assert [lowest, *ends] == [*borders, highest] if tiles else lowest == highest
    for coarse in {Grain.DAY, Grain.HOUR} & definition.keep.keys():
        finer = [at for grain, at in tiles if grain < coarse]
        spans = {definition.grid.span(coarse, at) for at in finer}
        assert not [span for span in spans if lowest <= span.begin and span.end <= highest]


def test_slots_of_a_moment_and_how_long_they_are_kept() -> None:
    definition = counter(timezone="Asia/Kolkata")
    at = second("2024-09-24T22:05:59Z")
    assert [(slot, until) for slot, until in slots_of(definition, at)] == [
        (slot_of(Grain.QUARTER, second("2024-09-24T22:00Z")), second("2024-10-02T22:15Z") + SPARE_S),
        (slot_of(Grain.HOUR, second("2024-09-24T21:30Z")), second("2024-11-23T22:30Z") + SPARE_S),
        (slot_of(Grain.DAY, second("2024-09-24T18:30Z")), second("2026-09-25T18:30Z") + SPARE_S),
    ]


def test_the_end_of_a_range_may_be_far() -> None:
    ranges = tile(counter(), "1", 0, LAST, now=0)
    assert ranges == [SlotRange("1", slot_of(Grain.DAY, 0), slot_of(Grain.DAY, LAST))]


NOW = second("2026-03-01T12:05Z")

# One row a case: from, to, why not.
IMPOSSIBLE = [
    ("2026-03-01T12:00:00Z", "2026-03-01T11:59:59Z", ImpossibleRange, "the range ends before it begins"),
    (
        "1969-12-31T23:59:59Z",
        "2026-03-01T00:00:00Z",
        ImpossibleRange,
        "the range is not between the years 1970 and 3000",
    ),
    (
        "2026-03-01T00:00:00Z",
        "3000-01-01T00:00:01Z",
        ImpossibleRange,
        "the range is not between the years 1970 and 3000",
    ),
    (
        "2026-02-21T11:45:00Z",
        "2026-03-01T00:00:00Z",
        BeyondKeep,
        "count_rain_drops keeps quarters for 8d, and the range needs that of 2026-02-21T11:45:00+00:00",
    ),
    (
        "2025-12-31T01:00:00Z",
        "2026-03-01T00:00:00Z",
        BeyondKeep,
        "count_rain_drops keeps hours for 60d, and the range needs that of 2025-12-31T01:00:00+00:00",
    ),
    (
        "2024-02-28T00:00:00Z",
        "2026-03-01T00:00:00Z",
        BeyondKeep,
        "count_rain_drops keeps days for 2y, and the range needs that of 2024-02-28T00:00:00+00:00",
    ),
]


@pytest.mark.parametrize(("begin", "end", "fault", "words"), IMPOSSIBLE)
def test_what_cannot_be_counted(begin: str, end: str, fault: type[ImpossibleRange], words: str) -> None:
    with pytest.raises(fault) as caught:
        tile(counter(), "1", second(begin), second(end), NOW)
    assert str(caught.value) == words


@pytest.mark.parametrize(
    "begin",
    [
        "2026-02-21T12:15:00Z",
        "2026-02-21T12:00:00Z",
        "2025-12-31T13:00:00Z",
        "2025-12-31T00:00:00Z",
        "2024-03-02T00:00:00Z",
    ],
)
def test_what_is_kept_just_long_enough(begin: str) -> None:
    definition = counter()
    ranges = tile(definition, "1", second(begin), NOW, NOW)
    for grain, at in slots_in(definition, ranges):
        (until,) = (until for slot, until in slots_of(definition, at) if slot == slot_of(grain, at))
        assert until - SPARE_S > NOW
        assert until > NOW + QUARTER_S * 3
    assert ranges[0].first == slot_of(grain_of(ranges[0].first), second(begin))


def test_equal_ends_and_a_range_within_one_quarter_need_nothing() -> None:
    at = second("2026-03-01T12:00Z")
    assert [tile(counter(), "1", at, to, NOW) for to in (at, at + QUARTER_S - 1)] == [[], []]


def test_zones_are_known_by_their_names() -> None:
    assert counter(timezone="Asia/Kathmandu").zone is ZoneInfo("Asia/Kathmandu")
