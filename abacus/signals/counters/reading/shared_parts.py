"""Closed parts in the cache that processes share."""

from collections.abc import Mapping, Sequence

from abacus.platform.reading.shared_cache import CachedValue, SharedCache
from abacus.signals.counters.reading.closed_parts import Kept
from abacus.signals.counters.types import SlotRange


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
