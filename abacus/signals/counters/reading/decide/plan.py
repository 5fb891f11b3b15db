"""The ranges of slots that a lookup has to sum. Pure."""

from collections.abc import Callable
from typing import NamedTuple

from abacus.signals.counters.decide.catalog import Catalog, Unknown
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.tiles import BeyondKeep, ImpossibleRange, floor_quarter
from abacus.signals.counters.reading.decide.shape import Shape, shape_of
from abacus.signals.counters.reading.types import Counted, Lookup, NotCounted, Why


class LookupPlan(NamedTuple):
    """How a lookup is counted: by the slots of the shape, under the key that the store knows."""

    definition: Definition
    begin: int
    end: int
    key: str
    shape: Shape

    def counted(self, units: int) -> Counted:
        return Counted(self.begin, self.end, units, self.definition.decimals)


def retirement_within(definition: Definition, end: int) -> NotCounted | None:
    """Why a range that ends at this second is not counted: the definition was retired before it ends."""
    if definition.retired_at is None or end <= definition.retired_at.timestamp():
        return None
    return NotCounted(Why.RETIRED, f"{definition.name} counts no more since {definition.retired_at.isoformat()}")


class Planner:
    """Plans the lookups of a moment. What ended more than `late_by_s` ago counts as closed, for the definitions that
    `keeps` says yes to; of all others everything is open.
    """

    def __init__(self, catalog: Catalog, now_s: int, *, late_by_s: int, keeps: Callable[[Definition], bool]) -> None:
        self._catalog = catalog
        self._now = floor_quarter(now_s)
        self._closed_until = floor_quarter(now_s - late_by_s)
        self._keeps = keeps

    def plan(self, lookup: Lookup) -> LookupPlan | NotCounted:
        try:
            definition = self._catalog.find(lookup.key)
        except Unknown as error:
            return NotCounted(Why.UNKNOWN_KEY, str(error))
        if lookup.end < lookup.begin:
            return NotCounted(Why.TO_BEFORE_FROM, "`to` is before `from`")
        begin, end = floor_quarter(lookup.begin), floor_quarter(lookup.end)
        if retired := retirement_within(definition, end):
            return retired
        closed_until = self._closed_until if self._keeps(definition) else None
        try:
            shape = shape_of(definition, begin, end, self._now, closed_until)
        except BeyondKeep as error:
            return NotCounted(Why.BEYOND_KEEP, str(error))
        except ImpossibleRange as error:
            return NotCounted(Why.INVALID, str(error))
        return LookupPlan(definition, begin, end, definition.stored_key(lookup.key), shape)
