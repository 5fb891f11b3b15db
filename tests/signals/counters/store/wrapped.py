"""A store behind another, for tests that stand in between."""

from collections.abc import Mapping, Sequence

from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.types import Count, Row, RowKey, SlotRange, Slots


class WrappedStore:
    """Passes everything on."""

    def __init__(self, store: CounterStore) -> None:
        self._store = store

    async def load(self, keys: Sequence[RowKey]) -> Mapping[RowKey, Count]:
        return await self._store.load(keys)

    async def save(self, rows: Sequence[Row]) -> None:
        await self._store.save(rows)

    async def sums(self, ranges: Sequence[SlotRange]) -> Sequence[int]:
        return await self._store.sums(ranges)

    async def slots(self, ranges: Sequence[SlotRange]) -> Sequence[Mapping[int, int]]:
        return await self._store.slots(ranges)

    async def keys(self, space: str, after: str, most: int) -> Sequence[str]:
        return await self._store.keys(space, after, most)

    async def top(self, space: str, slots: Sequence[Slots], most: int) -> Sequence[tuple[str, int]]:
        return await self._store.top(space, slots, most)

    async def there(self, ranges: Sequence[SlotRange]) -> Sequence[bool]:
        return await self._store.there(ranges)

    async def apart(self, ranges: Sequence[SlotRange]) -> Mapping[str | None, Sequence[SlotRange]]:
        return await self._store.apart(ranges)

    async def probes(self) -> Mapping[str | None, SlotRange]:
        return await self._store.probes()
