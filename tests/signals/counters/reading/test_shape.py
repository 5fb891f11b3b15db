"""The closed and the open slots of a range."""

from hypothesis import given
from hypothesis import strategies as st

from abacus.signals.counters.decide.grid import begin_of, grain_of
from abacus.signals.counters.decide.tiles import floor_quarter, slots_of, tile
from abacus.signals.counters.reading.decide.shape import shape_of
from abacus.signals.counters.types import Grain, SlotRange, Slots
from tests.signals.counters.reading.asking import DAY_S, HOUR_S, NOW_S, definition

ZONES = ("UTC", "Asia/Singapore", "Asia/Kathmandu", "America/New_York", "Australia/Lord_Howe")
NOW = floor_quarter(NOW_S)


def test_without_a_bound_everything_is_open() -> None:
    counter = definition()
    shape = shape_of(counter, NOW - 3 * DAY_S, NOW, NOW, None)
    assert shape.closed == ()
    assert ranges("k", shape.open) == tile(counter, "k", NOW - 3 * DAY_S, NOW, NOW)


def test_days_and_hours_are_cut_where_their_slots_are_still_open() -> None:
    """Seven days up to a Wednesday noon, and events that may be two days late: of Monday noon. So Monday is open, and
    closed is what was before it, in blocks of six hours and eight days.
    """
    counter = definition()
    shape = shape_of(counter, NOW - 7 * DAY_S, NOW, NOW, NOW - 2 * DAY_S)
    assert _spans(shape.closed) == [
        (Grain.HOUR, 6, "Wed"),
        (Grain.HOUR, 6, "Wed"),  # up to midnight
        (Grain.DAY, 4, "Thu"),  # Thursday to Sunday
    ]
    assert _spans(shape.open) == [(Grain.DAY, 2, "Mon"), (Grain.HOUR, 12, "Wed")]


def test_a_range_that_is_long_over_is_closed_whole() -> None:
    shape = shape_of(definition(), NOW - 40 * DAY_S, NOW - 10 * DAY_S, NOW, NOW - 2 * DAY_S)
    assert shape.open == ()


def test_a_range_that_grows_or_moves_on_keeps_nearly_all_of_its_closed_parts() -> None:
    counter = definition()
    for length in (3 * DAY_S, 7 * DAY_S):
        begin = NOW - length
        at_first = set(shape_of(counter, begin, NOW, NOW, NOW - 3 * HOUR_S).closed)
        grown = set(shape_of(counter, begin, NOW + HOUR_S, NOW + HOUR_S, NOW - 2 * HOUR_S).closed)
        moved = set(shape_of(counter, begin + 900, NOW + 900, NOW + 900, NOW - 3 * HOUR_S + 900).closed)
        assert len(grown - at_first) == 1
        assert len(moved - at_first) == 4  # three quarters of an hour that was whole before, and the rest of its block


@given(
    zone=st.sampled_from(ZONES),
    begins=st.integers(0, 7 * 96),
    lasts=st.integers(0, 8 * 96),
    late_by=st.integers(0, 4 * 96),
)
def test_the_parts_are_the_tiles_and_what_is_closed_has_ended(zone: str, begins: int, lasts: int, late_by: int) -> None:
    counter = definition(timezone=zone)
    begin = NOW - 900 * begins
    closed_until = NOW - 900 * late_by
    shape = shape_of(counter, begin, begin + 900 * lasts, NOW, closed_until)
    tiles = tile(counter, "k", begin, begin + 900 * lasts, NOW)
    assert _joined(ranges("k", shape.closed) + ranges("k", shape.open)) == sorted(tiles)
    open_slots = {grain_of(kept.slot): kept.slot for kept in slots_of(counter, closed_until)}
    for _, end in shape.closed:
        assert end <= open_slots[grain_of(end)]  # so each closed slot ended before the one that contains that moment
    for first, _ in shape.open:
        assert first >= open_slots[grain_of(first)]


def ranges(key: str, slots: tuple[Slots, ...]) -> list[SlotRange]:
    return [SlotRange(key, first, end) for first, end in slots]


def _joined(parts: list[SlotRange]) -> list[SlotRange]:
    """Neighbouring ranges as one."""
    joined: list[SlotRange] = []
    for part in sorted(parts):
        if joined and joined[-1].end == part.first:
            joined[-1] = joined[-1]._replace(end=part.end)
        else:
            joined.append(part)
    return joined


def _spans(slots: tuple[Slots, ...]) -> list[tuple[Grain, int, str]]:
    """Grain, number of slots (in UTC), and the day of the week of the first."""
    lengths = {Grain.QUARTER: 900, Grain.HOUR: HOUR_S, Grain.DAY: DAY_S}
    days = ("Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed")
    return [
        (
            grain_of(first),
            (begin_of(end) - begin_of(first)) // lengths[grain_of(first)],
            days[begin_of(first) // DAY_S % 7],
        )
        for first, end in slots
    ]
