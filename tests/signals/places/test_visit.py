"""How positions become visits: entering and leaving with hysteresis, rarely enough, whatever the order they come in."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.signals.places.decide.country_map import Following
from abacus.signals.places.decide.crossing_event import event_of
from abacus.signals.places.decide.position import Position
from abacus.signals.places.decide.visit import SEEN_EVERY, TOO_LATE, Crossing, Followed, Visit, follow
from tests.signals.places.strips import METRES, Strips, strip

NOW: Final = datetime(2026, 1, 10, 12, tzinfo=UTC)
FOLLOWING: Final = Following(leave_after_m=100, once_in_minutes=10)
STRIPS: Final = Strips(strip("west", 0, 1), strip("east", 1, 2), strip("park", 0.5, 0.6, priority=2))


def position(minute: float, lon: float, *, member: str = "bob", accuracy_m: float = 0.0) -> Position:
    return Position(member, (lon, 0.0), accuracy_m, NOW + timedelta(minutes=minute))


def past(metres: float, border: float = 1.0) -> float:
    return border + metres / METRES


def followed(
    positions: Iterable[Position], known: Iterable[Visit] = (), *, strips: Strips = STRIPS, now: datetime = NOW
) -> Followed:
    return follow(positions, known, strips, lambda _: FOLLOWING, now)


def told(crossings: Iterable[Crossing]) -> list[tuple[str, str, float]]:
    return [
        ("entered" if each.entered else "left", each.region.id, (each.at - NOW) / timedelta(minutes=1))
        for each in crossings
    ]


def test_a_member_enters_the_regions_that_it_is_in() -> None:
    outcome = followed([position(0, 0.55)])
    assert told(outcome.crossings) == [("entered", "park", 0), ("entered", "west", 0)]
    assert [each.regions for each in outcome.crossings] == [("park", "west")] * 2
    assert [(each.region, each.inside) for each in outcome.visits] == [("park", True), ("west", True)]


@pytest.mark.parametrize(
    ("lon", "accuracy_m", "leaves"),
    [(past(99), 0, False), (past(101), 0, True), (past(120), 30, False), (past(140), 30, True), (0.9, 0, False)],
)
def test_it_has_left_once_it_is_far_enough_beyond_the_border(lon: float, accuracy_m: float, *, leaves: bool) -> None:
    strips = Strips(strip("west", 0, 1))
    outcome = followed([position(0, 0.9), position(11, lon, accuracy_m=accuracy_m)], strips=strips)
    assert told(outcome.crossings)[1:] == ([("left", "west", 11)] if leaves else [])


def test_a_member_at_a_border_crosses_it_once() -> None:
    wavering = [position(minute, past(40 if minute % 2 else -40)) for minute in range(60)]
    assert told(followed(wavering).crossings) == [("entered", "west", 0), ("entered", "east", 1)]


def test_a_position_that_may_be_far_off_enters_nothing() -> None:
    assert told(followed([position(0, 0.1, accuracy_m=101)]).crossings) == []
    assert told(followed([position(0, 0.1, accuracy_m=100)]).crossings) == [("entered", "west", 0)]


def test_what_comes_too_soon_is_told_by_a_later_position_that_still_says_so() -> None:
    strips = Strips(strip("west", 0, 1))
    lons = [0.5, 5, 5, 0.5, 5, 5]
    positions = [position(minute, lon) for minute, lon in zip((0, 3, 11, 12, 13, 30), lons, strict=True)]
    assert told(followed(positions, strips=strips).crossings) == [("entered", "west", 0), ("left", "west", 11)]
    again = followed([*positions[:3], position(22, 0.5), position(40, 5)], strips=strips)
    assert told(again.crossings)[2:] == [("entered", "west", 22), ("left", "west", 40)]


def test_positions_that_come_together_are_put_in_order() -> None:
    in_order = [position(0, 0.9), position(1, 0.95), position(12, 1.5)]
    assert followed(reversed(in_order)) == followed(in_order)


def test_late_positions_tell_nothing() -> None:
    known = followed([position(5, 0.1)]).visits
    late = [position(5, 1.5), position(4, 1.5), position(-60.1, 0.1, member="ann")]
    assert followed(late, known) == Followed([], [], 3)
    assert followed([position(0, 0.1)], now=NOW + TOO_LATE).late == 0


def test_nobody_leaves_a_region_that_is_drawn_no_more() -> None:
    known = followed([position(0, 0.55)]).visits
    outcome = followed([position(20, 0.9)], known, strips=Strips(strip("west", 0, 1)))
    assert outcome.crossings == []
    assert [(each.region, each.inside) for each in outcome.visits] == [("park", False), ("west", True)]


def test_a_visit_that_goes_on_is_written_rarely() -> None:
    known = followed([position(0, 0.1)]).visits
    assert followed([position(0.5, 0.1)], known).visits == []
    (visit,) = followed([position(0.5, 0.1), position(1, 0.1)], known).visits
    assert (visit.since, visit.seen_at) == (NOW, NOW + SEEN_EVERY)


def test_the_same_position_is_the_same_event_and_names_nobody() -> None:
    one, other = [event_of(followed([position(0, 0.1)]).crossings[0]) for _ in range(2)]
    assert one == other
    assert "bob" not in one.key
    assert (one.source, one.type, one.country) == ("places", "place.entered", "SG")
    assert (one.variables, one.regions, one.region) == ({"region": "west", "kind": "city"}, ("west",), "west")
    keys = {
        event_of(followed([position(minute, 0.1, member=who)]).crossings[0]).key for minute in (0, 1) for who in "ab"
    }
    assert len(keys) == 4


lons = st.floats(-1, 3).map(lambda lon: round(lon, 4))
ways = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(-30, 120), lons, st.sampled_from([0.0, 30.0, 500.0])), max_size=25
)


@given(ways.map(lambda way: sorted(way, key=lambda each: each[1])), st.integers(0, 25))
def test_it_does_not_matter_where_a_process_dies(way: list[tuple[str, int, float, float]], dies_at: int) -> None:
    """What was read, told and written, but not committed, is read again: no event comes with another key."""
    positions = [position(minute, lon, member=member, accuracy_m=accuracy) for member, minute, lon, accuracy in way]
    undisturbed = followed(positions)
    dead = followed(positions[:dies_at])  # its events are published
    assert set(map(event_of_key, dead.crossings)) <= set(map(event_of_key, undisturbed.crossings))
    after = followed(positions, dead.visits)  # and its rows are written
    assert set(map(event_of_key, after.crossings)) <= set(map(event_of_key, undisturbed.crossings))
    assert set(map(event_of_key, [*dead.crossings, *after.crossings])) == set(map(event_of_key, undisturbed.crossings))


@given(ways)
def test_who_enters_leaves_before_it_enters_again_and_not_too_soon(way: list[tuple[str, int, float, float]]) -> None:
    positions = [position(minute, lon, member=member, accuracy_m=accuracy) for member, minute, lon, accuracy in way]
    last: dict[tuple[str, str], Crossing] = {}
    for each in followed(positions).crossings:
        before = last.get((each.member_id, each.region.id))
        assert each.entered is (before is None or not before.entered)
        assert before is None or each.at - before.at >= timedelta(minutes=FOLLOWING.once_in_minutes)
        last[each.member_id, each.region.id] = each


def event_of_key(crossing: Crossing) -> str:
    return event_of(crossing).key
