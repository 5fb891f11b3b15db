"""Rows of all slices in one order, a page at a time."""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

from abacus.platform.postgres import LONG_S

_PAGE: Final = 2000


async def in_order(cursors: Sequence[Any], column: str, *, size: int = _PAGE) -> AsyncIterator[Sequence[Any]]:
    """The rows of several cursors, each in the order of a column: in that order over all, a page at a time. Rows
    with the same value are all behind one cursor. In a transaction.
    """
    left = [await cursor.fetch(size, timeout=LONG_S) for cursor in cursors]
    while any(left):
        upto = min(rows[-1][column] for rows in left if rows)  # what comes later of each cursor is not before this
        yield sorted((row for rows in left for row in rows if row[column] <= upto), key=lambda row: row[column])
        beyond = [[row for row in rows if row[column] > upto] for rows in left]
        left = [
            later or (await cursor.fetch(size, timeout=LONG_S) if rows else [])
            for cursor, rows, later in zip(cursors, left, beyond, strict=True)
        ]
