"""The slots that contain a moment, and the slots that tile a range of time. Pure."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, NamedTuple

from abacus.core.errors import Refused
from abacus.core.fields import LATEST
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.grid import Grid, begin_of, grain_of, slot_of
from abacus.signals.counters.decide.keep import in_words, name_of
from abacus.signals.counters.decide.local_time import Span
from abacus.signals.counters.types import QUARTER_S, Grain, SlotRange

SPARE_S: Final = 3_600  # rows are stored so much longer than readers rely on them: clocks differ
_LATEST_S: Final = int(LATEST.timestamp())
_REMEMBERED: Final = 20_000  # quarters, and ranges, of some grid


class ImpossibleRange(Refused):
    """A range of time that cannot be counted: it ends before it begins, or lies where no event can."""


class BeyondKeep(ImpossibleRange):
    """The range needs a slot that is not kept any more."""


class KeptSlot(NamedTuple):
    """A slot, and the second since 1970 from which on its row may be forgotten."""

    slot: int
    until: int


class _Tiles(NamedTuple):
    """Neighbouring slots of one grain, and until when the first of them is relied on."""

    first: int
    end: int
    relied_on_until: int


def floor_quarter(at: int) -> int:
    """The beginning of the quarter that contains this second since 1970."""
    return at - at % QUARTER_S


def end_of_quarter(at: int) -> int:
    """The end of the quarter that contains this second since 1970."""
    return floor_quarter(at) + QUARTER_S


def slots_of(definition: Definition, at: int) -> tuple[KeptSlot, ...]:
    """The minute, the quarter, the hour and the day that contain this second since 1970, of the grains that the
    definition keeps. They are the same for all definitions of one zone that keep their counts equally long.
    """
    grid = definition.grid
    return _slots(grid, at - at % grid.finest_s)


@lru_cache(maxsize=_REMEMBERED)
def _slots(grid: Grid, at: int) -> tuple[KeptSlot, ...]:
    """At the beginning of the shortest slot."""
    spans = ((grain, kept_s, grid.span(grain, at)) for grain, kept_s in grid.keep.items())
    return tuple(KeptSlot(slot_of(grain, span.begin), span.end + kept_s + SPARE_S) for grain, kept_s, span in spans)


def tile(definition: Definition, stored_key: str, begin: int, end: int, now: int) -> list[SlotRange]:
    """The slots that cover a range exactly, once its ends are floored to the quarter: whole days of the zone, then
    whole hours, then quarters, of the grains that are kept; in order of time, neighbours in one range of slots.

    Raises `ImpossibleRange`.
    """
    check_range(begin, end)
    tiles = _tiles(definition.grid, begin // QUARTER_S, end // QUARTER_S)
    for each in tiles:
        if each.relied_on_until <= now:
            raise _beyond_keep(definition, each.first)
    return [SlotRange(stored_key, each.first, each.end) for each in tiles]


def check_range(begin: int, end: int) -> None:
    """Raises `ImpossibleRange`."""
    if end < begin:
        raise ImpossibleRange("the range ends before it begins")
    if begin < 0 or end > _LATEST_S:
        raise ImpossibleRange(f"the range is not between the years 1970 and {LATEST.year}")


def check_relied_on(definition: Definition, grain: Grain, begin: int, now: int) -> None:
    """Whether the slot that begins at this second is still kept. Raises `BeyondKeep`."""
    if _relied_on_until(definition.grid, grain, begin) <= now:
        raise _beyond_keep(definition, slot_of(grain, begin))


@lru_cache(maxsize=_REMEMBERED)
def _tiles(grid: Grid, begin: int, end: int) -> tuple[_Tiles, ...]:
    """Between two quarters by their numbers: from either end the finest grain goes as far as the next one reaches."""
    grain, middle = Grain.QUARTER, Span(begin * QUARTER_S, end * QUARTER_S)
    before: list[_Tiles] = []
    after: list[_Tiles] = []
    for coarser in grid.coarser:
        whole = grid.whole(coarser, middle)
        if whole is None:
            break
        before.append(_tiled(grid, grain, middle.begin, whole.begin))
        after.append(_tiled(grid, grain, whole.end, middle.end))
        grain, middle = coarser, whole
    in_order = (*before, _tiled(grid, grain, *middle), *reversed(after))
    return tuple(each for each in in_order if each.first < each.end)


def _tiled(grid: Grid, grain: Grain, begin: int, end: int) -> _Tiles:
    return _Tiles(slot_of(grain, begin), slot_of(grain, end), _relied_on_until(grid, grain, begin))


def _relied_on_until(grid: Grid, grain: Grain, begin: int) -> int:
    return grid.span(grain, begin).end + grid.keep[grain]


def _beyond_keep(definition: Definition, slot: int) -> BeyondKeep:
    grain, at = grain_of(slot), begin_of(slot)
    words = f"{definition.name} keeps {name_of(grain)} for {in_words(definition.keep[grain])}"
    return BeyondKeep(f"{words}, and the range needs that of {datetime.fromtimestamp(at, UTC).isoformat()}")
