"""The slots of a time zone: quarters, hours and days, of the grains that are kept. Pure."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final
from zoneinfo import ZoneInfo

from abacus.signals.counters.decide.local_time import Span, spans_of
from abacus.signals.counters.types import QUARTER_S, Grain


class Grid:
    """Equal grids are one object: `grid_of` makes them. `coarser` are the grains beside the quarters."""

    __slots__ = ("coarser", "keep", "zone")

    def __init__(self, zone: ZoneInfo, keep: Mapping[Grain, int]) -> None:
        self.zone: Final = zone
        self.keep: Final = MappingProxyType(dict(keep))
        self.coarser: Final = tuple(grain for grain in (Grain.HOUR, Grain.DAY) if grain in keep)

    def span(self, grain: Grain, at: int) -> Span:
        """From the beginning to the end of the slot that contains a second since 1970."""
        if grain is Grain.QUARTER:
            begin = at - at % QUARTER_S
            return Span(begin, begin + QUARTER_S)
        spans = spans_of(self.zone, at // QUARTER_S)
        return spans.day if grain is Grain.DAY else spans.hour

    def whole(self, grain: Grain, span: Span) -> Span | None:
        """From the first to the last end of a slot within the span; None where no slot lies in it whole."""
        first = self.span(grain, span.begin)
        begin = span.begin if first.begin == span.begin else first.end
        end = self.span(grain, span.end).begin
        return Span(begin, end) if begin < end else None


def grid_of(zone: ZoneInfo, keep: Mapping[Grain, int]) -> Grid:
    return _grid(zone, tuple(sorted(keep.items())))


@lru_cache(maxsize=20_000)
def _grid(zone: ZoneInfo, keep: tuple[tuple[Grain, int], ...]) -> Grid:
    return Grid(zone, dict(keep))


_GRAIN_SHIFT: Final = 28  # quarters since 1970 below, the grain above: an int of 32 bits until the year 9626


def slot_of(grain: Grain, begins_at: int) -> int:
    """The slot that begins at this second since 1970, the beginning of a quarter. Slots of one grain rise with time."""
    return grain << _GRAIN_SHIFT | begins_at // QUARTER_S


def begin_of(slot: int) -> int:
    """The second since 1970 at which the slot begins."""
    return (slot & (1 << _GRAIN_SHIFT) - 1) * QUARTER_S


def grain_of(slot: int) -> Grain:
    return Grain(slot >> _GRAIN_SHIFT)
