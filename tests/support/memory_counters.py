"""A store of counters in memory."""

from collections import Counter
from collections.abc import Mapping, Sequence

from abacus.core.clock import Clock
from abacus.signals.counters.decide.grid import grain_of
from abacus.signals.counters.types import Count, Grain, Row, RowKey, SlotRange, Slots


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

    async def slots(self, ranges: Sequence[SlotRange]) -> Sequence[Mapping[int, int]]:
        found: list[Counter[int]] = []
        for key, first, end in ranges:
            sums = Counter[int]()
            for row, each in self._rows.items():
                if row.key == key and first <= row.slot < end:
                    sums[row.slot] += each.count
            found.append(sums)
        return found

    async def keys(self, space: str, after: str, most: int) -> Sequence[str]:
        keys = {row.key for row in self._rows if grain_of(row.slot) is Grain.KEYS and row.key.startswith(space)}
        return sorted(key for key in keys if key > after)[:most]

    async def top(self, space: str, slots: Sequence[Slots], most: int) -> Sequence[tuple[str, int]]:
        sums = Counter[str]()
        for row, each in self._rows.items():
            if row.key.startswith(space) and any(first <= row.slot < end for first, end in slots):
                sums[row.key] += each.count
        return sorted(((key, sum_) for key, sum_ in sums.items() if sum_), key=lambda each: (-each[1], each[0]))[:most]

    async def there(self, ranges: Sequence[SlotRange]) -> Sequence[bool]:
        return [any(row.key == key and first <= row.slot < end for row in self._rows) for key, first, end in ranges]

    async def apart(self, ranges: Sequence[SlotRange]) -> Mapping[str | None, Sequence[SlotRange]]:
        return {None: ranges}

    async def probes(self) -> Mapping[str | None, SlotRange]:
        return {None: SlotRange("", 0, 0)}
