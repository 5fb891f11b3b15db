"""Tells series of keys, and which keys there are: the charts of counters."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, TypeVar

from abacus.core.clock import Clock
from abacus.core.errors import Refused, Unavailable
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.tiles import BeyondKeep, ImpossibleRange, floor_quarter, tile
from abacus.signals.counters.metrics import COUNT_SERIES
from abacus.signals.counters.reading.decide.plan import retirement_within
from abacus.signals.counters.reading.decide.series_plan import SeriesPlan, SeriesPlanner
from abacus.signals.counters.reading.room_sums import NO_SUMS, HouseSums, is_of_room
from abacus.signals.counters.reading.rounds import STORE
from abacus.signals.counters.reading.types import (
    Days,
    KeyCount,
    KeyPage,
    KeyRange,
    NotCounted,
    Series,
    SeriesLookup,
    Why,
)
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.types import SlotRange

_TOLD: Final = "told"

Result = TypeVar("Result")


class SeriesService:
    """Reads the store itself, each part of it within `within_s`. `store` best has connections of its own: a chart takes
    longer than a count.
    """

    def __init__(
        self,
        catalog: Callable[[], Catalog],
        store: CounterStore,
        clock: Clock,
        *,
        sums: HouseSums = NO_SUMS,
        within_s: float,
    ) -> None:
        self.catalog: Final = catalog
        self._store = store
        self._sums = sums
        self._clock = clock
        self._within_s = within_s

    async def series(self, lookups: Sequence[SeriesLookup], *, with_sums: bool = True) -> list[Series | NotCounted]:
        """The outcome of each lookup, in order: never all or nothing. `with_sums`: also of what rooms add up. Raises
        `Unavailable` when the definitions were never read.
        """
        planner = SeriesPlanner(self.catalog(), self._now_s())
        days = await self._days([each.key for each in lookups]) if with_sums else {}
        plans = [_planned(planner, each, days.get(each.key)) for each in lookups]
        sums, failures = await self._slots([each.range for each in plans if isinstance(each, SeriesPlan)])
        outcomes = [_told(each, sums, failures) if isinstance(each, SeriesPlan) else each for each in plans]
        for name, count in Counter(_TOLD if isinstance(each, Series) else str(each.why) for each in outcomes).items():
            COUNT_SERIES.labels(name).inc(count)
        return outcomes

    async def keys(self, definition: Definition, after: str, most: int) -> KeyPage:
        """So many keys behind this one, all of which count or have counted. Raises `Unavailable`."""
        space = definition.space
        found = await self._in_time(self._store.keys(space, space + after, most + 1))
        keys = [each.removeprefix(space) for each in found[:most]]
        return KeyPage(keys, keys[-1] if len(found) > most else None)

    async def top(self, definition: Definition, begin: int, end: int, most: int) -> KeyRange | NotCounted:
        """So many keys with the largest counts in a range. Raises `Unavailable`."""
        if end < begin:
            return NotCounted(Why.TO_BEFORE_FROM, "`to` is before `from`")
        begin, end = floor_quarter(begin), floor_quarter(end)
        if retired := retirement_within(definition, end):
            return retired
        try:
            tiles = tile(definition, "", begin, end, self._now_s())
            slots = [(each.first, each.end) for each in tiles]
            found = await self._in_time(self._store.top(definition.space, slots, most))
        except BeyondKeep as error:
            return NotCounted(Why.BEYOND_KEEP, str(error))
        except ImpossibleRange as error:
            return NotCounted(Why.INVALID, str(error))
        except Refused as error:
            return NotCounted(Why.TOO_MANY_KEYS, str(error))
        named = [KeyCount(key.removeprefix(definition.space), units, definition.decimals) for key, units in found]
        return KeyRange(begin, end, named)

    def definition(self, name: str) -> Definition | None:
        """The latest version of the definition of this name. Raises `Unavailable` when they were never read."""
        return next((each for each in self.catalog().definitions if each.name == name), None)

    def _now_s(self) -> int:
        return int(self._clock.now().timestamp())

    async def _days(self, keys: Sequence[str]) -> Mapping[str, Days | NotCounted]:
        """What rooms have added up under these keys, or why they do not tell."""
        try:
            return await self._in_time(self._sums.days(keys))
        except Unavailable as error:
            why = NotCounted(Why.UNAVAILABLE, str(error))
            return {key: why for key in keys if is_of_room(key)}

    async def _slots(
        self, ranges: Sequence[SlotRange]
    ) -> tuple[Mapping[SlotRange, Mapping[int, int]], Mapping[SlotRange, Unavailable]]:
        """The sums of the slots of each range, or why its part of the store does not tell."""
        try:
            parts = await self._in_time(self._store.apart(list(dict.fromkeys(ranges))))
        except Unavailable as error:
            return {}, dict.fromkeys(ranges, error)
        asked = [self._in_time(self._store.slots(part)) for part in parts.values()]
        sums: dict[SlotRange, Mapping[int, int]] = {}
        failures: dict[SlotRange, Unavailable] = {}
        for part, found in zip(parts.values(), await asyncio.gather(*asked, return_exceptions=True), strict=True):
            if isinstance(found, Unavailable):
                failures |= dict.fromkeys(part, found)
            elif isinstance(found, BaseException):
                raise found
            else:
                sums |= zip(part, found, strict=True)
        return sums, failures

    async def _in_time(self, question: Awaitable[Result]) -> Result:
        """Raises `Unavailable` where the store takes longer."""
        try:
            async with asyncio.timeout(self._within_s):
                return await question
        except TimeoutError:
            raise Unavailable(STORE, f"no answer within {self._within_s:g} s") from None


def _planned(
    planner: SeriesPlanner, lookup: SeriesLookup, days: Days | NotCounted | None
) -> SeriesPlan | Series | NotCounted:
    """By the sums of a room, where the key is of one."""
    match days:
        case None:
            return planner.plan(lookup)
        case Days():
            return planner.days(lookup, days)
        case NotCounted():
            return days


def _told(
    plan: SeriesPlan, sums: Mapping[SlotRange, Mapping[int, int]], failures: Mapping[SlotRange, Unavailable]
) -> Series | NotCounted:
    if plan.range in failures:
        return NotCounted(Why.UNAVAILABLE, str(failures[plan.range]))
    return plan.series(sums[plan.range])
