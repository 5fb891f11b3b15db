"""A page over several parts, each of which is read in order. Pure."""

import heapq
from collections.abc import Callable, Sequence
from itertools import takewhile
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
