"""Counters in the ledger's database: each row in the slice that a hash of its key names."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import cache, partial
from itertools import count
from operator import attrgetter
from typing import Final, TypeVar

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.platform.postgres import Pool
from abacus.platform.slices import Slice, SliceMap, side_by_side, slice_map_of, slices_of
from abacus.signals.counters.decide.ranking import largest_first
from abacus.signals.counters.store.partitions import MOST
from abacus.signals.counters.store.slice_rows import SliceRows
from abacus.signals.counters.types import Count, Row, RowKey, SlotRange, Slots

_TEND_EVERY_S: Final = 60.0
_KEY: Final = attrgetter("key")
_KEY_OF_ROW: Final = attrgetter("key.key")

_Thing = TypeVar("_Thing")
_Part = TypeVar("_Part")
_Result = TypeVar("_Result")

log = structlog.get_logger(__name__)


class PostgresCounterStore:
    """`CounterStore` in the ledger's database. Its pool best has the settings `LOOKUPS_BY_KEY`.

    A row whose `until` has passed by the clock is not saved. `tend` has to run beside the writers.
    """

    def __init__(self, pool: Pool, clock: Clock, *, most_partitions: int = MOST) -> None:
        self._pool = pool
        self._clock = clock
        self._most_partitions = most_partitions
        self._slices: dict[int, SliceRows] = {}

    async def load(self, keys: Sequence[RowKey]) -> Mapping[RowKey, Count]:
        found: dict[RowKey, Count] = {}
        for some in (await self._side_by_side(await self._by_slice(keys, _KEY), SliceRows.load)).values():
            found |= some
        return found

    async def save(self, rows: Sequence[Row]) -> None:
        now = self._clock.now().timestamp()
        lasting = [row for row in rows if row.until > now]
        await self._side_by_side(await self._by_slice(lasting, _KEY_OF_ROW), SliceRows.save)

    async def sums(self, ranges: Sequence[SlotRange]) -> Sequence[int]:
        return await self._of_each(ranges, SliceRows.sums)

    async def there(self, ranges: Sequence[SlotRange]) -> Sequence[bool]:
        return await self._of_each(ranges, SliceRows.there)

    async def slots(self, ranges: Sequence[SlotRange]) -> Sequence[Mapping[int, int]]:
        return await self._of_each(ranges, SliceRows.slots)

    async def keys(self, space: str, after: str, most: int) -> Sequence[str]:
        found = await self._of_all(lambda rows: rows.keys(space, after, most))
        return sorted(key for some in found for key in some)[:most]

    async def top(self, space: str, slots: Sequence[Slots], most: int) -> Sequence[tuple[str, int]]:
        found = await self._of_all(lambda rows: rows.top(space, slots, most))
        return largest_first((each for some in found for each in some), most)

    async def apart(self, ranges: Sequence[SlotRange]) -> Mapping[str | None, Sequence[SlotRange]]:
        slices = await slices_of(self._pool)
        return {slices[number].schema: part for number, part in (await self._by_slice(ranges, _KEY)).items()}

    async def probes(self) -> Mapping[str | None, SlotRange]:
        probes = _probes(await slice_map_of(self._pool))
        return {each.schema: probes[each.number] for each in await slices_of(self._pool)}

    async def tend(self) -> None:
        """Runs until cancelled: makes the partitions of the next day, and drops those whose time is over."""
        while True:
            await self.tend_once()
            await asyncio.sleep(_TEND_EVERY_S)

    async def tend_once(self) -> None:
        """The partitions of a slice that is away are tended another time."""
        try:
            slices = await slices_of(self._pool)
        except Unavailable as error:
            log.warning("partitions of counters are not tended", away=error)
            return
        for each in slices:
            try:
                await self._rows_of(each).partitions.tend()
            except Unavailable as error:
                log.warning("partitions of counters are not tended", of_slice=each.number, away=error)

    async def _of_each(
        self,
        ranges: Sequence[SlotRange],
        asked: Callable[[SliceRows, Sequence[SlotRange]], Awaitable[Sequence[_Result]]],
    ) -> Sequence[_Result]:
        parts = await self._by_slice(ranges, _KEY)
        found: dict[SlotRange, _Result] = {}
        for number, answers in (await self._side_by_side(parts, asked)).items():
            found |= zip(parts[number], answers, strict=True)
        return [found[each] for each in ranges]

    async def _of_all(self, asked: Callable[[SliceRows], Awaitable[_Result]]) -> Collection[_Result]:
        """The answers of all slices."""
        parts = dict.fromkeys(each.number for each in await slices_of(self._pool))
        return (await self._side_by_side(parts, lambda rows, _: asked(rows))).values()

    async def _by_slice(self, things: Sequence[_Thing], key_of: Callable[[_Thing], str]) -> dict[int, list[_Thing]]:
        return (await slice_map_of(self._pool)).by_slice(things, key_of)

    async def _side_by_side(
        self, parts: Mapping[int, _Part], work: Callable[[SliceRows, _Part], Awaitable[_Result]]
    ) -> Mapping[int, _Result]:
        """What comes of each slice's part. When some fail the others are done all the same."""
        slices = await slices_of(self._pool)
        works = {number: partial(work, self._rows_of(slices[number]), part) for number, part in parts.items()}
        results = await side_by_side(works, patience_s=None, at_once=len(works))
        if errors := [each for each in results.values() if isinstance(each, BaseException)]:
            raise min(errors, key=lambda error: isinstance(error, Unavailable))  # what does not pass, if there is any
        return {number: each for number, each in results.items() if not isinstance(each, BaseException)}

    def _rows_of(self, slice_: Slice) -> SliceRows:
        if slice_.number not in self._slices:
            self._slices[slice_.number] = SliceRows(self._clock, slice_, most_partitions=self._most_partitions)
        return self._slices[slice_.number]


@cache
def _probes(slice_map: SliceMap) -> Mapping[int, SlotRange]:
    found: dict[int, SlotRange] = {}
    keys = map(str, count())
    while len(found) < slice_map.slices:
        key = next(keys)
        found.setdefault(slice_map.slice_of(key), SlotRange(key, 0, 0))
    return found
