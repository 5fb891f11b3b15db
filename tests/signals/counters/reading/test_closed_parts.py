"""The closed parts that a process keeps."""

from abacus.signals.counters.reading.closed_parts import ClosedParts, Kept
from abacus.signals.counters.types import SlotRange

A, B = (0, 96), (96, 192)


def keep(parts: ClosedParts, key: str, slots: tuple[int, int], sum_: int, until: float = 100) -> None:
    parts.keep(SlotRange(key, *slots), Kept(sum_, until))


def test_a_part_is_kept_until_its_time_is_over() -> None:
    parts = ClosedParts(most=10)
    assert parts.known("a", [A, B], 0) == (0, [A, B])
    keep(parts, "a", A, 7)
    keep(parts, "a", B, 480, until=99)
    keep(parts, "b", B, 1)
    assert parts.known("a", [A, B], 98) == (487, [])
    assert parts.known("a", [A, B], 99) == (7, [B])
    assert parts.known("a", [B], 98) == (480, [])
    assert parts.known("a", [], 98) == (0, [])
    keep(parts, "a", B, 481)
    assert parts.known("a", [A, B], 99) == (488, [])
    assert len(parts) == 3


def test_the_keys_that_nobody_asked_for_go_first() -> None:
    parts = ClosedParts(most=3)
    for key, slots in (("a", A), ("b", A), ("b", B)):
        keep(parts, key, slots, 1)
    assert parts.known("a", [A], 0) == (1, [])
    keep(parts, "c", A, 1)
    assert [parts.known(key, [A, B], 0)[0] for key in ("a", "b", "c")] == [1, 0, 1]
    assert len(parts) == 2


def test_nothing_is_kept_where_there_is_no_room() -> None:
    parts = ClosedParts(most=0)
    keep(parts, "a", A, 1)
    assert (parts.known("a", [A], 0), len(parts)) == ((0, [A]), 0)
