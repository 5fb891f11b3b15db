"""What events add to rows, and which of them are repeats."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from abacus.core.errors import Reason
from abacus.platform.kafka.reader import NO_STAMP, Record
from abacus.signals.counters.decide.batch import (
    NOTHING,
    BatchWriter,
    Cell,
    Changes,
    EventMemory,
    Findings,
    added,
    cells,
    examine,
)
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.event_measure import NotCounted
from abacus.signals.counters.decide.grid import begin_of, grain_of
from abacus.signals.counters.decide.topics import in_force
from abacus.signals.counters.types import Count, Grain, Row, RowKey
from tests.signals.counters.rides import Ride, drafts, ride, rides_source

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
NOW = NOON + timedelta(hours=1)
WRITER = 65_537
SOURCE = rides_source("rides").published(1)
CATALOG = Catalog([each.published(1, NOON) for each in drafts(SOURCE)], {"rides": SOURCE})
DAY = EventMemory(timedelta(hours=24))
KEY = RowKey("1.1:rides:member:m1", 5, WRITER)


def record(offset: int, value: Ride | bytes, stamp: datetime | None = NOON) -> Record:
    body = value if isinstance(value, bytes) else value.body
    return Record(body, "rides", 1, offset, NO_STAMP if stamp is None else int(stamp.timestamp() * 1000))


def examined(*records: Record, remembering: EventMemory = DAY) -> Findings:
    read = in_force(CATALOG, "rides", "events").read
    reading = BatchWriter(WRITER, read, lambda source, type_, _: CATALOG.measures(source, type_))
    return examine(records, reading, NOW, remembering)


def pairs(cell: Cell) -> list[tuple[int, int]]:
    return list(cell.changes.pairs())


def known(*marks: tuple[int, RowKey]) -> dict[RowKey, Count]:
    return {mark: Count(1, offset) for offset, mark in marks}


def test_an_event_is_added_to_its_slot_of_each_grain_that_is_kept() -> None:
    """The cars are counted in India, where days begin at half past six in the evening of UTC."""
    at = datetime(2026, 5, 1, 20, 20, tzinfo=UTC)
    found = examined(record(9, ride(1, at=at.replace(day=1) - timedelta(hours=12), fare=Decimal("12.345"))))
    rows = {
        (place.key, grain_of(place.slot)): (begin_of(place.slot), cell)
        for place, cell in cells(found, frozenset(), WRITER).items()
    }
    at = at - timedelta(hours=12)
    hour, day = int(at.replace(minute=0).timestamp()), int(at.replace(hour=0, minute=0).timestamp())
    assert {place: (begin, pairs(cell)) for place, (begin, cell) in rows.items()} == {
        ("1.1:rides:member:m1", Grain.QUARTER): (hour + 900, [(9, 1)]),
        ("1.1:rides:member:m1", Grain.HOUR): (hour, [(9, 1)]),
        ("1.1:rides:member:m1", Grain.DAY): (day, [(9, 1)]),
        ("2.1:fares:city:7", Grain.MINUTE): (hour + 1200, [(9, 1235)]),
        ("2.1:fares:city:7", Grain.QUARTER): (hour + 900, [(9, 1235)]),
        ("2.1:fares:city:7", Grain.HOUR): (hour, [(9, 1235)]),
        ("2.1:fares:city:7", Grain.DAY): (day, [(9, 1235)]),
        ("3.1:rides:car:SG", Grain.QUARTER): (hour + 900, [(9, 1)]),
        ("3.1:rides:car:SG", Grain.HOUR): (hour - 1800, [(9, 1)]),
        ("3.1:rides:car:SG", Grain.DAY): (day - int(5.5 * 3600), [(9, 1)]),
    }


def test_quarters_of_one_hour_meet_in_its_row_in_the_order_of_their_offsets() -> None:
    minutes = (5, 50, 10)
    found = examined(
        *(record(offset, ride(offset, at=NOON + timedelta(minutes=each))) for offset, each in enumerate(minutes))
    )
    of_member = {
        (grain_of(place.slot), begin_of(place.slot) % 3600): (pairs(cell), cell.units)
        for place, cell in cells(found, frozenset(), WRITER).items()
        if place.key == KEY.key
    }
    assert of_member == {
        (Grain.QUARTER, 0): ([(0, 1), (2, 1)], 2),
        (Grain.QUARTER, 2700): ([(1, 1)], 1),
        (Grain.HOUR, 0): ([(0, 1), (1, 1), (2, 1)], 3),
        (Grain.DAY, 0): ([(0, 1), (1, 1), (2, 1)], 3),
    }


def test_minutes_of_one_quarter_meet_in_its_row() -> None:
    minutes = (0, 14, 0, 3, 15)
    found = examined(
        *(record(offset, ride(offset, at=NOON + timedelta(minutes=each))) for offset, each in enumerate(minutes))
    )
    of_city = {
        (grain_of(place.slot), begin_of(place.slot) % 3600 // 60): (list(cell.changes.offsets), cell.units)
        for place, cell in cells(found, frozenset({3}), WRITER).items()
        if place.key == "2.1:fares:city:7"
    }
    assert of_city == {
        (Grain.MINUTE, 0): ([0, 2], 2500),
        (Grain.MINUTE, 14): ([1], 1250),
        (Grain.MINUTE, 15): ([4], 1250),
        (Grain.QUARTER, 0): ([0, 1, 2], 3750),
        (Grain.QUARTER, 15): ([4], 1250),
        (Grain.HOUR, 0): ([0, 1, 2, 4], 5000),
        (Grain.DAY, 0): ([0, 1, 2, 4], 5000),
    }


def test_repeats_add_nothing() -> None:
    found = examined(record(3, ride(1, at=NOON)), record(4, ride(1, at=NOON)), record(5, ride(2, at=NOON)))
    repeated, _ = DAY.repeats(found, {}, NOW)
    changes = {place.key: pairs(cell) for place, cell in cells(found, repeated, WRITER).items()}
    assert changes == {
        key: [(3, units), (5, units)]
        for key, units in ((KEY.key, 1), ("2.1:fares:city:7", 1250), ("3.1:rides:car:SG", 1))
    }


def test_what_becomes_of_messages_that_do_not_count() -> None:
    bare = b'{"type": "ride.done", "id": "R9", "at": "2026-05-01T12:00:00Z", "member": "m1", "city": %s}'
    found = examined(
        record(0, b"{"),
        record(1, b'{"type": "ride.lost"}'),
        record(2, b""),
        record(3, bare % b'"seven"'),
        record(4, bare % b"7"),
        record(5, ride(1, at=NOON, vehicle="bike")),
    )
    assert [(place, fault.reason) for place, fault in found.bad] == [(0, Reason.UNDECODABLE), (3, Reason.INVALID)]
    assert found.ignored == 2
    assert [offset for offset, _ in found.marks] == [4, 5]
    assert {(definition.name, reason): events for (definition, reason), events in found.not_counted.items()} == {
        ("fares_of_city", NotCounted.MISSING): 1,
        ("car_rides", NotCounted.CONDITION): 2,
    }


def test_an_event_that_counts_for_no_definition_is_ignored_and_not_remembered() -> None:
    only_cars = Catalog([each for each in CATALOG.definitions if each.name == "car_rides"], CATALOG.sources)
    read = in_force(only_cars, "rides", "events").read
    reading = BatchWriter(WRITER, read, lambda source, type_, _: only_cars.measures(source, type_))
    found = examine([record(0, ride(1, at=NOON, vehicle="bike"))], reading, NOW, DAY)
    assert (found.ignored, found.marks, found.changes) == (1, [], {})


# The row as it was, the changes, and the row after them.
ADDITIONS: list[tuple[Count, list[tuple[int, int]], Count]] = [
    (NOTHING, [(0, 1)], Count(1, 0)),
    (NOTHING, [(7, 1), (9, 5)], Count(6, 9)),
    (Count(10, 6), [(7, 1), (9, -5)], Count(6, 9)),
    (Count(10, 7), [(7, 1), (9, 5)], Count(15, 9)),
    (Count(10, 8), [(7, 1), (9, 5)], Count(15, 9)),
    (Count(10, 9), [(7, 1), (9, 5)], Count(10, 9)),
    (Count(10, 99), [(7, 1), (9, 5)], Count(10, 99)),
]


@pytest.mark.parametrize(("before", "changes", "after"), ADDITIONS)
def test_what_is_in_a_row_is_not_added_again(before: Count, changes: list[tuple[int, int]], after: Count) -> None:
    cell = Cell(Changes.of(changes), sum(units for _, units in changes), 77)
    assert added(KEY, before, cell) == Row(KEY, after, 77)


def mark(key: str, at: datetime, writer: int = WRITER) -> RowKey:
    return DAY.mark(key, int(at.timestamp()), writer)


A, B, A_NEXT, A_THIRD = (
    mark("a", NOON),
    mark("b", NOON),
    mark("a", NOON + timedelta(hours=24)),
    mark("a", NOON + timedelta(hours=48)),
)

# Events by offset, what is remembered, the offsets of repeats, and what is remembered from now on.
REPEATS: list[tuple[str, list[tuple[int, RowKey]], list[tuple[int, RowKey]], set[int], list[tuple[int, RowKey]]]] = [
    ("nothing is remembered", [(5, A), (6, B)], [], set(), [(5, A), (6, B)]),
    ("it came before", [(5, A), (6, B)], [(3, A)], {5}, [(6, B)]),
    ("it came in the window before", [(5, A_NEXT)], [(3, A)], {5}, []),
    ("it came too long ago", [(5, A_THIRD)], [(3, A)], set(), [(5, A_THIRD)]),
    ("it is read again", [(5, A)], [(5, A)], set(), [(5, A)]),
    ("it is read again, and its repeat", [(5, A), (8, A)], [(5, A)], {8}, [(5, A)]),
    ("two in one batch", [(5, A), (6, A), (7, A)], [], {6, 7}, [(5, A)]),
    ("two in one batch, in two windows", [(5, A), (6, A_NEXT)], [], {6}, [(5, A)]),
    ("it is read again, before others that are remembered", [(5, A), (8, A)], [(8, A)], {8}, [(5, A)]),
]


@pytest.mark.parametrize(
    ("events", "before", "repeats", "after"), [each[1:] for each in REPEATS], ids=[each[0] for each in REPEATS]
)
def test_repeats(events: Any, before: Any, repeats: set[int], after: Any) -> None:
    found = Findings(marks=events)
    assert DAY.looked_for(found)[0] == events[0][1]
    repeated, rows = DAY.repeats(found, known(*before), NOW)
    assert repeated == repeats
    assert {row.key: row.count for row in rows} == known(*after)


LIVE = 131_073

# The offset of an event that a later writer remembers, whether it is of the next window; that writer's first offset,
# and whether the event is left to it.
LATER = [(110, False, 100, True), (110, True, 100, True), (90, False, 100, False), (100, False, 100, True)]


@pytest.mark.parametrize(("offset", "in_next", "first", "left"), LATER)
def test_an_event_that_a_later_writer_has_counted_is_left_to_it(
    offset: int,
    in_next: bool,  # noqa: FBT001  # a column of the table
    first: int,
    left: bool,  # noqa: FBT001  # another
) -> None:
    theirs = mark("a", NOON + timedelta(hours=24 * in_next), LIVE)
    later = {LIVE: first}
    found = Findings(marks=[(50, A)])
    assert theirs in DAY.looked_for(found, later)
    repeated, _ = DAY.repeats(found, known((offset, theirs)), NOW, later)
    assert repeated == ({50} if left else set())


@pytest.mark.parametrize(("minutes_before", "is_found"), [(1, True), (59, True), (61, False)])
def test_a_repeat_with_an_earlier_stamp_is_found_across_the_border_of_a_window(
    minutes_before: int,
    is_found: bool,  # noqa: FBT001  # a column of the table
) -> None:
    """Up to an hour earlier: no clock is further behind."""
    midnight = NOON.replace(hour=0)
    stamps = (midnight + timedelta(minutes=5), midnight - timedelta(minutes=minutes_before))
    found = examined(*[record(offset, ride(1, at=NOON), stamp) for offset, stamp in enumerate(stamps)])
    assert (DAY.repeats(found, {}, NOW)[0] == {1}) == is_found
    first, second = (each for _, each in found.marks)
    assert first != second
    assert (first in DAY.looked_for(Findings(marks=[(1, second)], late_marks=found.late_marks))) == is_found


@pytest.mark.parametrize("waited", [timedelta(), timedelta(days=5)])
def test_an_event_that_waited_is_remembered_as_long_as_others(waited: timedelta) -> None:
    """Its repeat has waited too, and is met as much later as it was sent later."""
    now = NOON + waited
    _, [row] = DAY.repeats(Findings(marks=[(5, A)]), {}, now)
    assert row.until >= (now + timedelta(hours=48)).timestamp()


def test_an_event_is_remembered_for_a_day_at_least() -> None:
    """In the window of its stamp, or of its own time where it has none, and in the next."""
    for hours, hit in ((0, True), (12, True), (24, True), (48, False)):
        repeat = mark("a", NOON + timedelta(hours=hours))
        assert (known((1, A)).keys() & set(DAY.looked_for(Findings(marks=[(2, repeat)]))) != set()) == hit
    stamped, unstamped = examined(record(0, ride(1, at=NOON), NOW), record(1, ride(1, at=NOON), None)).marks
    assert stamped == (0, stamped[1])
    assert unstamped[1] == mark("rides:ride.done:R1", NOON)


@pytest.mark.parametrize(
    ("at_least", "quarters"), [(timedelta(minutes=15), 1), (timedelta(minutes=16), 2), (timedelta(hours=24), 96)]
)
def test_windows_are_whole_quarters(at_least: timedelta, quarters: int) -> None:
    first, before = EventMemory(at_least).looked_for(
        Findings(marks=[(0, EventMemory(at_least).mark("a", 86_400 * 365, WRITER))])
    )
    assert first.slot - before.slot == quarters
