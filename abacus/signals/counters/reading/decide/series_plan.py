"""The slots of a series: all that hold a moment of its range, up to the slot that holds the present. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import islice
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from abacus.signals.counters.decide.catalog import Catalog, Unknown
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.grid import Grid, grid_of, slot_of
from abacus.signals.counters.decide.keep import name_of
from abacus.signals.counters.decide.local_time import Span
from abacus.signals.counters.decide.tiles import BeyondKeep, ImpossibleRange, check_range, check_relied_on
from abacus.signals.counters.reading.decide.plan import retirement_within
from abacus.signals.counters.reading.types import NotCounted, Series, SeriesLookup, Why
from abacus.signals.counters.types import Grain, SlotRange

MOST_SLOTS: Final = 1_500  # of a series: a day of minutes, two months of hours
MOST_OF_ALL: Final = 30_000  # of the series that are asked for together

_TO_BEFORE_FROM: Final = NotCounted(Why.TO_BEFORE_FROM, "`to` is before `from`")
_BY_DAY: Final = {Grain.DAY: 0}


class SeriesPlan(NamedTuple):
    """A range of slots and their beginnings. `is_open` says that the last slot has not ended."""

    definition: Definition
    grain: Grain
    range: SlotRange
    begins: Sequence[int]
    is_open: bool

    def series(self, sums: Mapping[int, int]) -> Series:
        """A slot without a sum is a gap."""
        units = [sums.get(slot_of(self.grain, begin), 0) for begin in self.begins]
        return Series(self.grain, self.begins, units, self.definition.decimals, self.is_open)


class DayPlan(NamedTuple):
    """Days of a room's clock and their beginnings. `is_open` says that the last day has not ended."""

    begins: Sequence[int]
    days: Sequence[date]
    is_open: bool

    def series(self, counts: Mapping[date, int]) -> Series:
        """A day without a count is a gap."""
        return Series(Grain.DAY, self.begins, [counts.get(day, 0) for day in self.days], 0, self.is_open)


class SeriesPlanner:
    """Plans the series of a moment."""

    def __init__(self, catalog: Catalog, now_s: int) -> None:
        self._catalog = catalog
        self._now_s = now_s
        self._left = MOST_OF_ALL

    def plan(self, lookup: SeriesLookup) -> SeriesPlan | NotCounted:
        try:
            definition = self._catalog.find(lookup.key)
        except Unknown as error:
            return NotCounted(Why.UNKNOWN_KEY, str(error))
        if lookup.end < lookup.begin:
            return _TO_BEFORE_FROM
        if lookup.grain not in definition.keep:
            return NotCounted(Why.NOT_KEPT, f"{definition.name} keeps no {name_of(lookup.grain)}")
        if retired := retirement_within(definition, lookup.end):
            return retired
        return self._planned(lookup, definition)

    def days(self, lookup: SeriesLookup, zone: ZoneInfo) -> DayPlan | NotCounted:
        """Of what a room adds up by the days of this clock. The lookup has no fault of days."""
        spans = self._spans(lookup, grid_of(zone, _BY_DAY))
        if isinstance(spans, NotCounted):
            return spans
        begins = [span.begin for span in spans]
        days = [datetime.fromtimestamp(begin, zone).date() for begin in begins]
        return DayPlan(begins, days, is_open=bool(spans) and spans[-1].end > self._now_s)

    def _planned(self, lookup: SeriesLookup, definition: Definition) -> SeriesPlan | NotCounted:
        grain, grid = lookup.grain, definition.grid
        try:
            check_range(lookup.begin, lookup.end)
            first = grid.span(grain, lookup.begin).begin
            check_relied_on(definition, grain, first, self._now_s)
        except BeyondKeep as error:
            return NotCounted(Why.BEYOND_KEEP, str(error))
        except ImpossibleRange as error:
            return NotCounted(Why.INVALID, str(error))
        spans = self._spans(lookup, grid)
        if isinstance(spans, NotCounted):
            return spans
        begins, end = [span.begin for span in spans], spans[-1].end if spans else first
        slots = SlotRange(definition.stored_key(lookup.key), slot_of(grain, first), slot_of(grain, end))
        return SeriesPlan(definition, grain, slots, begins, is_open=bool(spans) and end > self._now_s)

    def _spans(self, lookup: SeriesLookup, grid: Grid) -> Sequence[Span] | NotCounted:
        """The slots of a range up to the present, unless there are too many."""
        within = _spans(grid, lookup.grain, lookup.begin, min(lookup.end, self._now_s + 1))
        spans = list(islice(within, MOST_SLOTS + 1))
        if len(spans) > MOST_SLOTS:
            return NotCounted(Why.TOO_MANY_SLOTS, f"more than {MOST_SLOTS:,} {name_of(lookup.grain)}")
        if len(spans) > self._left:
            return NotCounted(Why.TOO_MANY_SLOTS, f"more than {MOST_OF_ALL:,} slots with the series before it")
        self._left -= len(spans)
        return spans


def fault_of_days(lookup: SeriesLookup) -> NotCounted | None:
    """Why no room can tell this, whatever it adds up."""
    if lookup.end < lookup.begin:
        return _TO_BEFORE_FROM
    if lookup.grain is not Grain.DAY:
        return NotCounted(Why.NOT_KEPT, f"{lookup.key} is added up by days")
    try:
        check_range(lookup.begin, lookup.end)
    except ImpossibleRange as error:
        return NotCounted(Why.INVALID, str(error))
    return None


def _spans(grid: Grid, grain: Grain, begin: int, end: int) -> Iterator[Span]:
    """The slots that hold a moment of a range."""
    while begin < end:
        span = grid.span(grain, begin)
        yield span
        begin = span.end
