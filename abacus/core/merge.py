"""What several parts tell, as one: a page of all, or sums. Pure."""

import heapq
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from operator import add
from typing import Any, TypeVar

Thing = TypeVar("Thing")


def page_size(limit: int, parts: int) -> int:
    """How many things to read of each part for a page of at most `limit`."""
    return max(1, limit // parts)


def merged_page(pages: Sequence[Sequence[Thing]], size: int, place: Callable[[Thing], Any]) -> list[Thing]:
    """The next things of all parts in their order, out of the next `size` things of each, in the same order.

    They end where the first of the full pages ends: behind it, that part may have more. Nothing is next only where no
    part has anything.
    """
    merged = heapq.merge(*pages, key=place)
    ends = [place(page[-1]) for page in pages if len(page) >= size]
    if not ends:
        return list(merged)
    end = min(ends)
    return list(takewhile(lambda each: place(each) <= end, merged))


def added_up(rows: Iterable[Sequence[Any]], *, facts: int) -> list[tuple[Any, ...]]:
    """The rows in order. Rows with the same facts become one: the numbers behind the facts are added up.
    None comes last, as in Postgres.
    """
    sums: dict[tuple[Any, ...], tuple[int, ...]] = {}
    for row in rows:
        place, numbers = tuple(row[:facts]), tuple(row[facts:])
        sums[place] = tuple(map(add, sums[place], numbers)) if place in sums else numbers
    return [(*place, *sums[place]) for place in sorted(sums, key=_in_order)]


def _in_order(place: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple((each is None, each) for each in place)
