"""Whether the sums of a partition come out."""

import pytest

from abacus.signals.counters.decide.account import EventFates, PartitionAccount, waiting

WHOLE = PartitionAccount("rides", 1, None, 0, 100, 149, seen=50, counted=40, ignored=5, repeated=3, set_aside=2)


def test_offsets_without_an_event_are_told_and_no_fault() -> None:
    assert (WHOLE.offsets, WHOLE.without_event, WHOLE.faults) == (50, 0, [])
    later = WHOLE._replace(upto=159)
    assert (later.offsets, later.without_event, later.faults) == (60, 10, [])


@pytest.mark.parametrize("name", ["counted", "ignored", "repeated", "set_aside"])
@pytest.mark.parametrize("more", [-1, 1])
def test_each_outcome_has_to_be_that_of_an_event(name: str, more: int) -> None:
    wrong = WHOLE._replace(**{name: getattr(WHOLE, name) + more})
    assert wrong.faults == [f"50 events seen, and the fate of {50 + more} is known"]


def test_totals() -> None:
    assert EventFates().plus() == EventFates(0, 0, 0, 0, 0)
    assert EventFates().plus(WHOLE.fates, WHOLE._replace(counted=41).fates) == EventFates(100, 81, 10, 6, 4)


def test_what_waits_is_told_of_live_writers_of_topics_that_are_there() -> None:
    live, other = WHOLE._replace(generation=2), WHOLE._replace(topic="meals")
    accounts = [WHOLE, live, WHOLE._replace(counter="rides@1"), other, live._replace(partition=1)]
    assert waiting(accounts, {"rides": {0: 160}}) == {live: 10}
    assert waiting(accounts, {}) == {}
