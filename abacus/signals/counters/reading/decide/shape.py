"""The slots of a range, without the key: lookups of many keys and definitions ask for the same few ranges. Pure."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.grid import begin_of, grain_of
from abacus.signals.counters.decide.tiles import ImpossibleRange, slots_of, tile
from abacus.signals.counters.types import QUARTER_S, Grain, Slots

# The quarters of a block. A closed range is cut where blocks begin, so that a range that grows by an hour, or moves on
# with the time, shares all but its ends with the one before.
_BLOCKS: Final[Mapping[Grain, int]] = {Grain.QUARTER: 1, Grain.HOUR: 6 * 4, Grain.DAY: 8 * 96}

_SHAPES: Final = 20_000


class Shape(NamedTuple):
    """The slots that cover a range. No event that is late by less than the bound changes the closed ones."""

    closed: tuple[Slots, ...]
    open: tuple[Slots, ...]


class _OfGrid:
    """A definition that stands for all of its grid: their shapes are equal."""

    __slots__ = ("definition",)

    def __init__(self, definition: Definition) -> None:
        self.definition = definition

    def __hash__(self) -> int:
        return hash(self.definition.grid)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _OfGrid) and self.definition.grid is other.definition.grid


def shape_of(definition: Definition, begin: int, end: int, now: int, closed_until: int | None) -> Shape:
    """All times are beginnings of quarters. What ended before `closed_until` is closed; None: nothing is.

    Raises `ImpossibleRange`.
    """
    try:
        return _shape(_OfGrid(definition), begin, end, now, closed_until)
    except ImpossibleRange:
        tile(definition, "", begin, end, now)  # says the same, and names this definition
        raise


@lru_cache(_SHAPES)
def _shape(one: _OfGrid, begin: int, end: int, now: int, closed_until: int | None) -> Shape:
    tiles = tile(one.definition, "", begin, end, now)
    if closed_until is None:
        return Shape((), tuple((each.first, each.end) for each in tiles))
    # The slots of that moment: all before them have ended.
    open_from = {grain_of(kept.slot): kept.slot for kept in slots_of(one.definition, closed_until)}
    cuts = [(each, min(max(each.first, open_from[grain_of(each.first)]), each.end)) for each in tiles]
    return Shape(
        tuple(block for each, cut in cuts for block in _blocks(each.first, cut)),
        tuple((cut, each.end) for each, cut in cuts if cut < each.end),
    )


def _blocks(first: int, end: int) -> Iterator[Slots]:
    while first < end:
        length = _BLOCKS[grain_of(first)]
        following = min(first + length - begin_of(first) // QUARTER_S % length, end)
        yield first, following
        first = following
