"""The rows of all slices as one ledger's: sums are added up, and sorted rows stay sorted."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from itertools import chain
from typing import Any, Final, TypeVar

from abacus.platform.postgres import LONG_S

_PAGE: Final = 2000

Row = TypeVar("Row")


def added_up(parts: Iterable[Iterable[Sequence[Any]]], make: Callable[..., Row], *, by: int) -> list[Row]:
    """Rows that agree in their first `by` columns become one, and their other columns are added up. They come in the
    order of the first ones.
    """
    sums: dict[tuple[Any, ...], list[int]] = {}
    for row in chain.from_iterable(parts):
        group, numbers = tuple(row[:by]), row[by:]
        before = sums.get(group, [0] * len(numbers))
        sums[group] = [one + other for one, other in zip(before, numbers, strict=True)]
    return [make(*group, *sums[group]) for group in sorted(sums)]


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
