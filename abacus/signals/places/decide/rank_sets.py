"""Sets of regions, by the ranks of these: equal sets have one number."""

from collections.abc import Iterable
from typing import Final, TypeAlias

Ranks: TypeAlias = tuple[int, ...]  # of regions, rising: the one of rank 0 is told first

_BITS: Final = 32  # of a number


class RankSets:
    """Numbers are given from 0 on; 0 is the empty set. None is ever taken back."""

    def __init__(self, known: Iterable[Ranks] = ((),)) -> None:
        self.all = list(known)
        self._numbers = {ranks: number for number, ranks in enumerate(self.all)}
        self._toggled: dict[int, int] = {}  # by both numbers, one behind the other

    def number(self, ranks: Ranks) -> int:
        number = self._numbers.get(ranks)
        if number is None:
            number = self._numbers[ranks] = len(self.all)
            self.all.append(ranks)
        return number

    def toggled(self, one: int, other: int) -> int:
        """The regions that are in one of two sets and not in both."""
        pair = one << _BITS | other
        made = self._toggled.get(pair)
        if made is None:
            ranks = set(self.all[one]).symmetric_difference(self.all[other])
            made = self._toggled[pair] = self.number(tuple(sorted(ranks)))
        return made
