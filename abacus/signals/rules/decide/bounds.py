"""Which rules accept a value because of a bound: sets for each bound, the next holding the one before. Pure."""

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from typing import Any, Final, TypeAlias

# A constant, and where it stands beside values that are equal to it: -1 before, 0 with, 1 behind them.
Bound: TypeAlias = tuple[Any, int]

_NONE: Final = 0


class _Bounds(ABC):
    """Bounds in order, each with the set of rules that have it or an easier bound."""

    __slots__ = ("_bounds", "_counts", "_sets", "indifferent")

    def __init__(self, indifferent: int) -> None:
        self.indifferent = indifferent
        self._bounds: list[Bound] = []
        self._counts: list[int] = []  # how many rules have exactly this bound
        self._sets: list[int] = []

    def __bool__(self) -> bool:
        return bool(self._bounds)

    def add(self, bit: int, bound: Bound | None) -> None:
        if bound is None:
            self.indifferent |= bit
            return
        place = bisect_left(self._bounds, bound)
        if place == len(self._bounds) or self._bounds[place] != bound:
            self._bounds.insert(place, bound)
            self._counts.insert(place, 0)
            self._sets.insert(place, self._inherited(place))
        self._counts[place] += 1
        for each in self._reached(place):
            self._sets[each] |= bit

    def remove(self, bit: int, bound: Bound | None) -> None:
        self.indifferent &= ~bit
        if bound is None:
            return
        place = bisect_left(self._bounds, bound)
        for each in self._reached(place):
            self._sets[each] &= ~bit
        self._counts[place] -= 1
        if not self._counts[place]:
            del self._bounds[place], self._counts[place], self._sets[place]

    @abstractmethod
    def _inherited(self, place: int) -> int:
        """The rules that a new constant at this place has from its neighbour."""

    @abstractmethod
    def _reached(self, place: int) -> range:
        """The places whose values satisfy a rule with the constant at this place."""


class FromValue(_Bounds):
    """Rules that want at least a constant, or more than it."""

    __slots__ = ()

    def accepting(self, value: Any) -> int:
        place = bisect_right(self._bounds, (value, 0))
        return self.indifferent | (self._sets[place - 1] if place else _NONE)

    def _inherited(self, place: int) -> int:
        return self._sets[place - 1] if place else _NONE

    def _reached(self, place: int) -> range:
        return range(place, len(self._sets))


class UpToValue(_Bounds):
    """Rules that want at most a constant, or less than it."""

    __slots__ = ()

    def accepting(self, value: Any) -> int:
        place = bisect_left(self._bounds, (value, 0))
        return self.indifferent | (self._sets[place] if place < len(self._sets) else _NONE)

    def _inherited(self, place: int) -> int:
        return self._sets[place] if place < len(self._sets) else _NONE

    def _reached(self, place: int) -> range:
        return range(place + 1)
