"""Which keys count: known keys, and new ones while the day has room. Read again, an event is decided as before."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from abacus.signals.counters.decide.admission import Admitted, Candidate, Day, KeyRoom, Room, admit, granted, window_of
from abacus.signals.counters.decide.grid import begin_of, grain_of
from abacus.signals.counters.types import Count, Grain, Row, RowKey
from tests.signals.counters.rides import RIDES_OF_MEMBER, drafts, rides_source

DAY_S = 86_400
NOON = int(datetime(2026, 5, 1, 12, tzinfo=UTC).timestamp())
TODAY = NOON // DAY_S
WRITER, OTHER = 65_536, 65_537
(RIDES,) = (
    each.published(1, datetime(2026, 1, 1, tzinfo=UTC)) for each in drafts(rides_source("rides"), [RIDES_OF_MEMBER])
)
WINDOW = window_of(RIDES, NOON)
KEEP_S = max(RIDES.keep.values())


def of_day(day: int = TODAY, writer: int = WRITER) -> Day:
    return Day(RIDES.id, 1, day, writer)


def key(name: str, *offsets: int, at: int = NOON, writer: int = WRITER, **known: Any) -> Candidate:
    return Candidate(name, writer, RIDES, [(offset, at) for offset in offsets], **known)


def known(each: Candidate, first: int, kind: KeyRoom = KeyRoom.NEW, window: int = WINDOW) -> Candidate:
    each.remember({RowKey(each.key, window, each.writer): Count(kind, first)})
    return each


def decided(candidates: list[Candidate], room: Room) -> Admitted:
    return admit(candidates, {of_day(): room}, NOON)


def left_out(admitted: Admitted) -> dict[str, list[int]]:
    return {name: each.offsets for (_, name), each in admitted.dropped.items()}


FULL = Room(granted=2, admitted=2, is_last=True)
ONE_LEFT = Room(granted=2, admitted=1, is_last=True)

CASES: list[tuple[str, list[Candidate], Room, dict[str, list[int]], int]] = [
    ("who comes first has the room", [key("b", 6, 7), key("a", 5, 9)], ONE_LEFT, {"b": [6, 7]}, 2),
    ("a full day refuses", [key("a", 5), key("b", 6)], FULL, {"a": [5], "b": [6]}, 2),
    ("what is known goes on", [known(key("a", 5, 6), first=3)], FULL, {}, 2),
    ("what came before it counted was refused, and is again", [known(key("a", 1, 3, 5), first=3)], FULL, {"a": [1]}, 3),
    ("read again, it takes its room again", [known(key("a", 5), first=5), key("b", 6)], ONE_LEFT, {"b": [6]}, 2),
    ("what counts elsewhere takes no room", [key("a", 5, counted_before=True)], FULL, {}, 2),
    ("nor what another writer admits", [key("a", 5), key("a", 6, writer=OTHER), key("b", 7)], ONE_LEFT, {"b": [7]}, 2),
    ("nor does it when it is read again", [known(key("a", 5), first=5, kind=KeyRoom.BEFORE)], FULL, {}, 2),
]


@pytest.mark.parametrize(
    ("candidates", "room", "dropped", "admitted"), [each[1:] for each in CASES], ids=[each[0] for each in CASES]
)
def test_keys_are_admitted_while_there_is_room(
    candidates: list[Candidate], room: Room, dropped: dict[str, list[int]], admitted: int
) -> None:
    decision = decided(candidates, room)
    assert left_out(decision) == dropped
    after = decision.rooms.get(of_day(), room)
    refused = sum(map(len, dropped.values()))
    assert (after.admitted, after.refused - room.refused) == (admitted, refused)
    assert decision.short == {}


def test_a_room_that_may_grow_is_taken_for_large_enough_and_told() -> None:
    decision = decided([key("a", 5), key("b", 6), key("c", 7)], Room(granted=1))
    assert (left_out(decision), decision.short) == ({}, {of_day(): 3})


def test_each_day_has_room_of_its_own() -> None:
    tomorrow = NOON + DAY_S
    late = Candidate("a", WRITER, RIDES, [(5, NOON), (6, tomorrow)])
    decision = admit([late], {of_day(): FULL, of_day(TODAY + 1): ONE_LEFT}, NOON)
    assert left_out(decision) == {"a": [5]}
    assert [each.count for each in decision.rows] == [Count(KeyRoom.NEW, 6)]


def test_a_key_is_remembered_until_its_counts_are_gone() -> None:
    decision = decided([key("a", 5)], ONE_LEFT)
    (row,) = decision.rows
    assert (row.key, row.count) == (RowKey("a", WINDOW, WRITER), Count(KeyRoom.NEW, 5))
    assert grain_of(WINDOW) is Grain.KEYS
    last = begin_of(window_of(RIDES, NOON + KEEP_S)) + KEEP_S  # it may come in any second of its window
    assert row.until > last


def test_a_key_of_the_window_before_is_remembered_in_this_one_too() -> None:
    """So it is known for as long as it comes, with the first offset that it had."""
    before = window_of(RIDES, NOON - KEEP_S - 2 * DAY_S)
    assert before != WINDOW
    decision = decided([known(key("a", 50), first=3, window=before)], FULL)
    assert [row[:2] for row in decision.rows] == [(RowKey("a", WINDOW, WRITER), Count(KeyRoom.NEW, 3))]
    again = known(key("a", 60), first=3)
    assert decided([again], FULL).rows == []


def test_the_rows_that_are_looked_up_are_those_that_may_be_remembered() -> None:
    places = key("a", 5, 6).places()
    assert {each.slot for each in places} == {
        window_of(RIDES, NOON + shift * (KEEP_S + 2 * DAY_S)) for shift in (-1, 0, 1)
    }
    first, end = key("a", 5).everywhere()[1:]
    assert all(first <= each.slot < end for each in places)
    old = Candidate("a", WRITER, replace(RIDES, new_keys_per_day=None), [(5, NOON)])
    assert old.everywhere()[1:] == (0, 2**31 - 1)


@pytest.mark.parametrize(
    ("wanted", "recorded", "rooms"),
    [
        ({of_day(): 4}, {}, {of_day(): Room(4)}),
        ({of_day(): 14}, {}, {of_day(): Room(10, is_last=True)}),
        ({of_day(): 4}, {of_day(writer=OTHER): Room(7)}, {of_day(): Room(3, is_last=True)}),
        ({of_day(): 4}, {of_day(TODAY - 1, OTHER): Room(7)}, {of_day(): Room(4)}),
        ({of_day(): 6}, {of_day(): Room(5), of_day(writer=OTHER): Room(5)}, {of_day(): Room(5, is_last=True)}),
        ({of_day(): 3}, {of_day(): Room(5)}, {of_day(): Room(5)}),  # by a process that decides again
        (
            {of_day(): 6, of_day(writer=OTHER): 6},
            {},
            {of_day(): Room(6), of_day(writer=OTHER): Room(4, is_last=True)},
        ),
    ],
)
def test_writers_are_granted_what_the_definition_allows_together(
    wanted: dict[Day, int], recorded: dict[Day, Room], rooms: dict[Day, Room]
) -> None:
    assert granted(wanted, recorded, {(RIDES.id, 1): 10}) == rooms


def test_a_row_is_kept_from_now_on_where_the_topic_is_read_late() -> None:
    late: Row = admit([key("a", 5)], {}, NOON + 3 * KEEP_S).rows[0]
    assert late.until > NOON + 5 * KEEP_S
