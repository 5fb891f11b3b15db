"""Every fault has a name of its own, and something that has to strike."""

from collections import Counter
from itertools import islice
from random import Random

import pytest

from abacus.platform.settings import Settings
from tests.reliability.chaos.faults.fault import Fault, in_turn
from tests.reliability.chaos.faults.of_kafka import READERS
from tests.reliability.chaos.faults.table import FAULTS, MIXED, SHORT
from tests.reliability.chaos.ground import CAMPAIGNERS, CREW, JOURNEYERS, group_of


def test_each_has_a_name_of_its_own_and_the_short_run_has_some_of_them() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert set(SHORT) <= set(FAULTS)


def test_the_mix_counts_what_its_parts_count() -> None:
    parts = [fault for fault in FAULTS if fault.needs <= MIXED.needs and fault is not MIXED]
    assert set(MIXED.counts) == {name for fault in parts for name in fault.counts or (fault.name,)}


@pytest.mark.parametrize(
    ("counts", "may_miss", "struck", "missed"),
    [
        ((), 0, {"fast": 1}, []),
        ((), 0, {}, ["a fault"]),
        (("a", "b"), 0, {"a": 1, "b": 2}, []),
        (("a", "b"), 0, {"a": 1, "c": 1}, ["b"]),
        (("a", "b"), 0, {}, ["a", "b"]),
        (("a", "b"), 1, {"a": 1}, []),
        (("a", "b"), 1, {}, ["a", "b"]),
    ],
)
def test_what_never_struck(counts: tuple[str, ...], may_miss: int, struck: dict[str, int], missed: list[str]) -> None:
    fault = Fault("a fault", "somehow", FAULTS[0].work, counts=counts, may_miss=may_miss)
    assert fault.missed(Counter(struck)) == missed


def test_each_has_its_turn() -> None:
    turns = list(islice(in_turn("abc", Random(1)), 9))
    assert all(set(turns[start : start + 3]) == set("abc") for start in (0, 3, 6))


def test_each_reader_of_a_campaigned_crew_comes_and_goes_and_has_its_own_group() -> None:
    hired = {*CREW, *CAMPAIGNERS, *JOURNEYERS}
    assert {"calculator", "campaigner", "journeyer"} <= {*READERS} <= hired
    settings = Settings(queue_prefix="a-", transactions_topic="bought", events_topic="happened")
    groups = {name: group_of(name, settings) for name in READERS}
    assert groups == {
        "calculator": "a-calculator",
        "campaigner": "a-campaigner-bought",
        "journeyer": "a-journeyer-happened",  # the events of a run's journey are there
    }
