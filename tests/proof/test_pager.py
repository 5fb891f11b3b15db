"""The pager: every row once, in order, over as many pages as there are."""

from typing import NamedTuple

import pytest

from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement
from abacus.proof.sight import Pager

COUNTED = Statement("select n, n * n as squared from generate_series(1, :count::int) as n order by n")


class Number(NamedTuple):
    n: int
    squared: int


@pytest.mark.parametrize("count", [0, 1, 2000, 2001, 4500])
async def test_rows_come_once_and_in_order(pool: Pool, count: int) -> None:
    async with pool.acquire() as connection, connection.transaction():
        pager = Pager(Number, connection, *COUNTED(count=count))
        rows = []
        while (row := await pager.take()) is not None:
            rows.append(row)
        assert rows == [Number(n, n * n) for n in range(1, count + 1)]
        assert [await pager.take(), await pager.peek()] == [None, None]


async def test_a_row_that_is_looked_at_stays_the_next(pool: Pool) -> None:
    async with pool.acquire() as connection, connection.transaction():
        pager = Pager(Number, connection, *COUNTED(count=2001))
        for n in range(1, 2002):
            assert [await pager.peek(), await pager.peek(), await pager.take()] == [Number(n, n * n)] * 3
        assert await pager.peek() is None
