"""Tells series of keys, and which keys there are: the charts of counters."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

from abacus.core.clock import Clock
from abacus.core.errors import Refused, Unavailable
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.tiles import BeyondKeep, ImpossibleRange, floor_quarter, tile
from abacus.signals.counters.metrics import COUNT_SERIES
from abacus.signals.counters.reading.decide.plan import retirement_within
from abacus.signals.counters.reading.decide.series_plan import DayPlan, SeriesPlan, SeriesPlanner, fault_of_days
from abacus.signals.counters.reading.room_sums import NO_SUMS, Counts, HouseSums, Told, is_of_room, read
from abacus.signals.counters.reading.rounds import STORE
from abacus.signals.counters.reading.types import (
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


class _RoomPlan(NamedTuple):
    """Days on which a room is asked for this."""

    told: Told
    plan: DayPlan


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
        told = await self._told(lookups) if with_sums else {}
        plans = [
            _planned_days(planner, each, told) if with_sums and is_of_room(each.key) else planner.plan(each)
            for each in lookups
        ]
        sums, failures = await self._slots([each.range for each in plans if isinstance(each, SeriesPlan)])
        days = await self._days([each for each in plans if isinstance(each, _RoomPlan)])
        outcomes = [_outcome(each, sums, failures, days) for each in plans]
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

    async def _told(self, lookups: Sequence[SeriesLookup]) -> Mapping[str, Told | NotCounted]:
        """What keys of rooms ask of whose sums, or why nobody tells; without the lookups that nobody can tell."""
        keys = dict.fromkeys(each.key for each in lookups if is_of_room(each.key) and fault_of_days(each) is None)
        try:
            return await self._in_time(self._sums.told(keys))
        except Unavailable as error:
            return dict.fromkeys(keys, _away(error))

    async def _days(self, plans: Sequence[_RoomPlan]) -> Mapping[Told, Counts] | Unavailable:
        """What rooms have added up on the days of the plans."""
        try:
            return await self._in_time(read((each.told, each.plan.days) for each in plans))
        except Unavailable as error:
            return error

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


def _planned_days(
    planner: SeriesPlanner, lookup: SeriesLookup, told: Mapping[str, Told | NotCounted]
) -> _RoomPlan | NotCounted:
    if (fault := fault_of_days(lookup)) is not None:
        return fault
    found = told[lookup.key]
    if isinstance(found, NotCounted):
        return found
    plan = planner.days(lookup, found.sums.zone)
    return plan if isinstance(plan, NotCounted) else _RoomPlan(found, plan)


def _outcome(
    plan: SeriesPlan | _RoomPlan | NotCounted,
    sums: Mapping[SlotRange, Mapping[int, int]],
    failures: Mapping[SlotRange, Unavailable],
    days: Mapping[Told, Counts] | Unavailable,
) -> Series | NotCounted:
    match plan:
        case NotCounted():
            return plan
        case SeriesPlan():
            failure = failures.get(plan.range)
            return plan.series(sums[plan.range]) if failure is None else _away(failure)
        case _RoomPlan():
            return _away(days) if isinstance(days, Unavailable) else plan.plan.series(days.get(plan.told, {}))


def _away(error: Unavailable) -> NotCounted:
    return NotCounted(Why.UNAVAILABLE, str(error))
