"""What travels to Cassandra together, and for how long it is kept there."""

from datetime import UTC, datetime

import pytest

from abacus.signals.counters.decide.grid import slot_of
from abacus.signals.counters.decide.requests import FOR_EVER, SHARES, Lookup, batches, listed, lookups, place_of, ttl
from abacus.signals.counters.types import Count, Grain, Row, RowKey

NOW = int(datetime(2026, 6, 10, tzinfo=UTC).timestamp())
YEAR_S = 365 * 86_400


WINDOWS = slot_of(Grain.REPEATS, 0), slot_of(Grain.REPEATS, 86_400)
EVENTS = [RowKey(f"{number:024x}", slot, writer) for number in range(3000) for slot in WINDOWS for writer in (7, -8)]


def test_a_lookup_is_of_one_key() -> None:
    places = [RowKey("a", 1, 7), RowKey("b", 1, 7), RowKey("a", 2, 7), RowKey("a", 1, 8), RowKey("b", 1, 9)]
    assert lookups(places) == [Lookup("a", [1, 2], [7]), Lookup("b", [1], [7, 9]), Lookup("a", [1], [8])]


def test_lookups_have_every_place_and_none_is_too_large() -> None:
    places = {place_of(each) for each in EVENTS} | {RowKey("a", slot, 7) for slot in range(120)}
    asked = lookups(places)
    assert max(len(each.slots) * len(each.writers) for each in asked) <= 50
    there = {RowKey(key, slot, writer) for key, slots, writers in asked for slot in slots for writer in writers}
    assert there == places


def test_rows_of_counters_lie_by_their_key_and_those_of_repeats_a_few_hundred_together() -> None:
    assert place_of(RowKey("34.1:rain", WINDOWS[0] - 1, 7)) == RowKey("34.1:rain", WINDOWS[0] - 1, 7)
    places = [place_of(each) for each in EVENTS]
    assert len(set(places)) == len(EVENTS)
    assert len({each.key for each in places}) == 2 * 256  # each writer's apart
    assert {each.slot for each in places} == set(WINDOWS)
    assert all(-(2**63) <= each.writer < 2**63 for each in places)


def test_a_batch_is_of_one_key_and_not_too_large() -> None:
    rows = [Row(RowKey(key, slot, 7), Count(1, 1), NOW) for slot in range(120) for key in "ab"]
    together = batches(rows)
    assert [len(each) for each in together] == [50, 50, 20] * 2
    assert all(len({row.key.key for row in each}) == 1 for each in together)
    assert sorted(row for each in together for row in each) == sorted(rows)


@pytest.mark.parametrize(
    ("until", "seconds"),
    [
        (NOW + 1, 1),
        (NOW + 8 * 86_400, 8 * 86_400),
        (NOW + 11 * YEAR_S, 11 * YEAR_S),
        (NOW + 12 * YEAR_S, FOR_EVER),  # in 2038
        (NOW + 21 * YEAR_S, FOR_EVER),
    ],
)
def test_the_time_to_live(until: int, seconds: int) -> None:
    assert ttl(until, NOW) == seconds


def test_keys_that_count_are_listed_by_the_beginning_of_their_counter() -> None:
    """Whatever the writer; rows of other grains are no entries."""
    window, hour = slot_of(Grain.KEYS, 0), slot_of(Grain.HOUR, 0)
    rows = [
        Row(RowKey(f"{version}:rain:{number}", slot, writer), Count(1, 1), 900 + writer)
        for version in ("1.1", "1.2")
        for number in range(200)
        for slot, writer in ((window, 1), (window, 2), (hour, 1))
    ]
    together = listed(rows)
    assert {each.place[:2] for some in together for each in some} == {
        (space, share) for space in ("1.1:", "1.2:") for share in range(SHARES)
    }
    assert all(len({each.place[:2] for each in some}) == 1 for some in together)
    entries = [each for some in together for each in some]
    assert len(entries) == 2 * 2 * 200
    assert {each.place[2] for each in entries} == {row.key.key for row in rows}
