"""Pages over several parts, put together, are all things in their order, each once."""

from hypothesis import given
from hypothesis import strategies as st

from abacus.core.merge import added_up, merged_page, page_size


@given(st.lists(st.integers(0, 10**6), unique=True), st.integers(1, 20), st.integers(1, 6))
def test_pages_follow_each_other(things: list[int], limit: int, count: int) -> None:
    parts = [sorted(each for each in things if each % count == number) for number in range(count)]
    size, after, told = page_size(limit, count), -1, list[int]()
    while page := merged_page(
        [[each for each in part if each > after][:size] for part in parts], size, lambda each: each
    ):
        assert len(page) <= limit
        told += page
        after = page[-1]
    assert told == sorted(things)


def test_of_one_part_the_page_is_as_it_was_read() -> None:
    assert page_size(1000, 1) == 1000
    assert merged_page([[3, 5, 8]], 3, lambda each: each) == [3, 5, 8]


def test_rows_with_the_same_facts_are_added_up() -> None:
    rows = [("OVO", "ID", 1, 5), ("GRP", None, 2, -10), ("GRP", "SG", 2, -10), ("GRP", "SG", 1, 3)]
    assert added_up(rows, facts=2) == [("GRP", "SG", 3, -7), ("GRP", None, 2, -10), ("OVO", "ID", 1, 5)]
    assert added_up([], facts=2) == []
