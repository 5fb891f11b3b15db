"""The slots of a time zone: minutes, quarters, hours and days, of the grains that are kept. Pure."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final
from zoneinfo import ZoneInfo

from abacus.signals.counters.decide.local_time import Span, spans_of
from abacus.signals.counters.types import MINUTE_S, QUARTER_S, Grain

_LENGTHS: Final[Mapping[Grain, int]] = {Grain.MINUTE: MINUTE_S, Grain.QUARTER: QUARTER_S}


class Grid:
    """Equal grids are one object: `grid_of` makes them. `coarser` are the grains above the quarters, `finest_s` is the
    length of the shortest slot.
    """

    __slots__ = ("coarser", "finest_s", "keep", "zone")

    def __init__(self, zone: ZoneInfo, keep: Mapping[Grain, int]) -> None:
        self.zone: Final = zone
        self.keep: Final = MappingProxyType(dict(keep))
        self.coarser: Final = tuple(grain for grain in (Grain.HOUR, Grain.DAY) if grain in keep)
        self.finest_s: Final = MINUTE_S if Grain.MINUTE in keep else QUARTER_S

    def span(self, grain: Grain, at: int) -> Span:
        """From the beginning to the end of the slot that contains a second since 1970."""
        if grain in _LENGTHS:
            begin = at - at % _LENGTHS[grain]
            return Span(begin, begin + _LENGTHS[grain])
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


# The grain above, quarters since 1970 below: an int of 32 bits until the year 9626. Minutes take all numbers from their
# grain on, and are one until the year 3500.
_GRAIN_SHIFT: Final = 28
_MINUTES: Final = Grain.MINUTE << _GRAIN_SHIFT


def slot_of(grain: Grain, begins_at: int) -> int:
    """The slot that begins at this second since 1970, the beginning of a quarter, or of a minute for a slot of a
    minute. Slots of one grain rise with time.
    """
    if grain is Grain.MINUTE:
        return _MINUTES + begins_at // MINUTE_S
    return grain << _GRAIN_SHIFT | begins_at // QUARTER_S


def begin_of(slot: int) -> int:
    """The second since 1970 at which the slot begins."""
    if slot >= _MINUTES:
        return (slot - _MINUTES) * MINUTE_S
    return (slot & (1 << _GRAIN_SHIFT) - 1) * QUARTER_S


def grain_of(slot: int) -> Grain:
    return Grain.MINUTE if slot >= _MINUTES else Grain(slot >> _GRAIN_SHIFT)
