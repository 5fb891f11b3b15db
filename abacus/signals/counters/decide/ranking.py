"""The keys with the largest sums. Pure."""

from collections.abc import Iterable
from heapq import nsmallest


def largest_first(sums: Iterable[tuple[str, int]], most: int) -> list[tuple[str, int]]:
    """The largest sums with their keys; equal sums in the order of the keys."""
    return nsmallest(most, sums, key=lambda each: (-each[1], each[0]))


def behind_all(space: str) -> str:
    """The first text behind all texts that begin with this one."""
    return space[:-1] + chr(ord(space[-1]) + 1)
