"""A store behind another, for tests that stand in between."""

from collections.abc import Mapping, Sequence

from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.types import Count, Row, RowKey, SlotRange


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

    async def there(self, ranges: Sequence[SlotRange]) -> Sequence[bool]:
        return await self._store.there(ranges)

    async def apart(self, ranges: Sequence[SlotRange]) -> Mapping[str | None, Sequence[SlotRange]]:
        return await self._store.apart(ranges)

    async def probes(self) -> Mapping[str | None, SlotRange]:
        return await self._store.probes()
