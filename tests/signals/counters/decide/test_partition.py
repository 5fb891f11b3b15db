"""Partitions are few, never overlap, and live as long as the last row in them."""

import itertools
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from abacus.signals.counters.decide.grid import begin_of, grain_of, slot_of
from abacus.signals.counters.decide.partition import LENGTHS, Partition, ahead, holding, over, wanted
from abacus.signals.counters.types import Grain

DAY_S = 86_400
NOW = int(datetime(2026, 6, 10, 12, 7, tzinfo=UTC).timestamp())

SLOTS = st.builds(
    lambda grain, back: slot_of(grain, (NOW - back) // 900 * 900),
    st.sampled_from(Grain),
    st.integers(0, 800 * DAY_S),
)
UNTILS = st.dictionaries(SLOTS, st.integers(NOW, NOW + 1_000 * DAY_S), max_size=12)


def made(partitions: list[Partition], changed: list[Partition]) -> list[Partition]:
    """The partitions after these were made or kept longer."""
    return sorted({each.first: each for each in (*partitions, *changed)}.values())


@given(st.lists(UNTILS, max_size=6))
def test_every_slot_has_one_partition_until_its_rows_may_go(steps: list[dict[int, int]]) -> None:
    partitions: list[Partition] = []
    for untils in steps:
        partitions = made(partitions, wanted(untils, partitions))
        assert all(one.next <= another.first for one, another in itertools.pairwise(partitions))
        for slot, until in untils.items():
            there = holding(slot, partitions)
            assert there is not None
            assert there.until >= until
        assert wanted(untils, partitions) == []
    latest = max((until for untils in steps for until in untils.values()), default=0)
    assert all(each.until < latest + LENGTHS[grain_of(each.first)] for each in partitions)


@given(UNTILS, SLOTS)
def test_partitions_of_another_length_are_left_as_they_are(untils: dict[int, int], slot: int) -> None:
    strange = Partition(slot, slot + 5, NOW)
    partitions = made([strange], wanted(untils, [strange]))
    assert next(each for each in partitions if each.first == slot).next == slot + 5
    assert all(one.next <= another.first for one, another in itertools.pairwise(partitions))


def test_a_partition_is_of_one_grain() -> None:
    quarter, hour = slot_of(Grain.QUARTER, NOW // 900 * 900), slot_of(Grain.HOUR, NOW // 3600 * 3600)
    partitions = wanted({quarter: NOW, hour: NOW}, [])
    assert [grain_of(each.first) for each in partitions] == [Grain.QUARTER, Grain.HOUR]
    assert [begin_of(each.next - 1) + 900 - begin_of(each.first) for each in partitions] == [2 * DAY_S, 14 * DAY_S]


def test_what_the_next_day_needs_is_wanted_before() -> None:
    partitions = wanted(ahead(NOW), [])
    for grain in (Grain.QUARTER, Grain.HOUR, Grain.DAY, Grain.REPEATS):
        for hours in range(25):
            assert holding(slot_of(grain, (NOW + hours * 3600) // 900 * 900), sorted(partitions))
    assert all(each.until >= begin_of(each.next - 1) + 900 for each in partitions)
    assert wanted(ahead(NOW), sorted(partitions)) == []


def test_a_partition_is_over_at_its_second() -> None:
    partitions = [Partition(0, 96, NOW), Partition(96, 192, NOW + 1)]
    assert over(partitions, NOW) == partitions[:1]
