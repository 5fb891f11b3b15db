"""A store of counters in memory."""

from collections.abc import Mapping, Sequence

from abacus.core.clock import Clock
from abacus.signals.counters.types import Count, Row, RowKey, SlotRange


class MemoryCounterStore:
    """Keeps what is saved, for ever. It passes the suite of the stores."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rows: dict[RowKey, Count] = {}

    async def load(self, keys: Sequence[RowKey]) -> Mapping[RowKey, Count]:
        return {key: self._rows[key] for key in keys if key in self._rows}

    async def save(self, rows: Sequence[Row]) -> None:
        now = self._clock.now().timestamp()
        for row in rows:
            saved = self._rows.get(row.key)
            if row.until > now and (saved is None or row.count.upto > saved.upto):
                self._rows[row.key] = row.count

    async def sums(self, ranges: Sequence[SlotRange]) -> Sequence[int]:
        return [
            sum(each.count for row, each in self._rows.items() if row.key == key and first <= row.slot < end)
            for key, first, end in ranges
        ]

    async def there(self, ranges: Sequence[SlotRange]) -> Sequence[bool]:
        return [any(row.key == key and first <= row.slot < end for row in self._rows) for key, first, end in ranges]

    async def apart(self, ranges: Sequence[SlotRange]) -> Mapping[str | None, Sequence[SlotRange]]:
        return {None: ranges}

    async def probes(self) -> Mapping[str | None, SlotRange]:
        return {None: SlotRange("", 0, 0)}
