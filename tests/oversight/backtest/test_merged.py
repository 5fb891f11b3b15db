"""Rows of several slices as those of one ledger."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from abacus.oversight.backtest.pages import in_order

Row = dict[str, int]


class Rows:
    """A cursor over rows in memory."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows

    async def fetch(self, size: int, *, timeout: float) -> list[Row]:  # noqa: ASYNC109  # as asyncpg has it
        page, self._rows = self._rows[:size], self._rows[size:]
        return page


@given(
    st.dictionaries(st.integers(0, 40), st.tuples(st.integers(0, 4), st.integers(1, 5))),
    st.integers(1, 4),
)
async def test_rows_come_in_order_over_all(members: dict[int, tuple[int, int]], size: int) -> None:
    """Each member is behind one cursor, with some rows, and those stay as they were."""
    parts: list[list[Row]] = [[] for _ in range(5)]
    for member, (part, count) in sorted(members.items()):
        parts[part] += [{"member": member, "place": place} for place in range(count)]
    pages = [page async for page in in_order([Rows(part) for part in parts], "member", size=size)]
    rows = [(row["member"], row["place"]) for page in pages for row in page]
    assert rows == sorted(rows)
    assert Counter(member for member, _ in rows) == {member: count for member, (_, count) in members.items()}
    assert all(pages)
