"""The sums of closed parts: kept in this process, and in the cache that processes share."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from abacus.platform.reading.shared_cache import CachedValue, SharedCache
from abacus.signals.counters.types import SlotRange, Slots


class Kept(NamedTuple):
    """A sum, and the second since 1970 from which on it is read anew: an event that was later than the bound, or a
    backfill, may have changed it.
    """

    sum: int
    until: float


class ClosedParts:
    """At most `most` parts; the parts of keys that nobody asked for go first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._count = 0
        self._by_key: OrderedDict[str, dict[Slots, Kept]] = OrderedDict()

    def __len__(self) -> int:
        return self._count

    def known(self, key: str, wanted: Iterable[Slots], now_s: float) -> tuple[int, list[Slots]]:
        """The sum of the parts that are kept, and the parts that are not."""
        kept = self._by_key.get(key)
        if kept is None:
            return 0, list(wanted)
        self._by_key.move_to_end(key)
        sum_, missing = 0, []
        for slots in wanted:
            part = kept.get(slots)
            if part is not None and part.until > now_s:
                sum_ += part.sum
            else:
                missing.append(slots)
        return sum_, missing

    def keep(self, part: SlotRange, kept: Kept) -> None:
        parts = self._by_key.setdefault(part.key, {})
        self._count += (part.first, part.end) not in parts
        parts[part.first, part.end] = kept
        self._by_key.move_to_end(part.key)
        while self._count > self._most:
            _, forgotten = self._by_key.popitem(last=False)
            self._count -= len(forgotten)


class SharedParts:
    """A key for each part. What the cache does not have is read from the store."""

    def __init__(self, cache: SharedCache) -> None:
        self._cache = cache

    async def find(self, parts: Sequence[SlotRange]) -> Mapping[SlotRange, Kept]:
        by_key = {_key(part): part for part in parts}
        return {by_key[key]: _kept(value) for key, value in (await self._cache.find(list(by_key))).items()}

    async def keep(self, kept: Mapping[SlotRange, Kept]) -> None:
        await self._cache.keep(
            {_key(part): CachedValue(f"{each.sum} {each.until:.0f}", each.until) for part, each in kept.items()}
        )


def _key(part: SlotRange) -> str:
    return f"part:{part.first}:{part.end}:{part.key}"


def _kept(value: str) -> Kept:
    sum_, until = value.split()
    return Kept(int(sum_), float(until))
