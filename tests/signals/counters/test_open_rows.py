"""Rows in memory: as they were saved, and never more than were asked for."""

import pytest

from abacus.signals.counters.open_rows import OpenRows
from abacus.signals.counters.types import Count, Row, RowKey


def row(key: str, count: int = 1, upto: int = 0, *, slot: int = 5, writer: int = 1) -> Row:
    return Row(RowKey(key, slot, writer), Count(count, upto), 99)


COUNTS = [(0, 0), (1, 0), (-1, 0), (-7, 12), (10**15, 2**62), (-(10**15), 2**62)]


@pytest.mark.parametrize(("count", "upto"), COUNTS)
def test_a_row_is_as_it_was_put(count: int, upto: int) -> None:
    rows = OpenRows(10)
    rows.put([row("a", count, upto)])
    assert rows.get(RowKey("a", 5, 1)) == Count(count, upto)
    assert len(rows) == 1


def test_rows_differ_by_key_slot_and_writer() -> None:
    rows = OpenRows(10)
    rows.put([row("a", 1), row("b", 2), row("a", 3, slot=6), row("a", 4, writer=2), row("a", 5)])
    found = [rows.get(RowKey(*place)) for place in (("a", 5, 1), ("b", 5, 1), ("a", 6, 1), ("a", 5, 2), ("b", 6, 1))]
    assert found == [Count(5, 0), Count(2, 0), Count(3, 0), Count(4, 0), None]


def test_what_was_not_touched_for_long_is_forgotten() -> None:
    rows = OpenRows(100)
    for number in range(1000):
        rows.put([row("hot", number, number), row(f"cold {number}")])
        assert len(rows) <= 100
    assert rows.get(row("hot").key) == Count(999, 999)
    assert rows.get(row("cold 999").key) == Count(1, 0)
    assert rows.get(row("cold 0").key) is None


def test_the_rows_of_a_writer_are_forgotten() -> None:
    rows = OpenRows(8)
    rows.put([row(f"{number}", writer=writer) for number in range(3) for writer in (1, 2)])
    rows.forget(1)
    assert [rows.get(RowKey(f"{number}", 5, 1)) for number in range(3)] == [None] * 3
    assert [rows.get(RowKey(f"{number}", 5, 2)) for number in range(3)] == [Count(1, 0)] * 3
    assert len(rows) == 3
