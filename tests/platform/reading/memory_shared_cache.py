"""A shared cache in memory, by a test's own clock."""

from collections.abc import Mapping, Sequence

from abacus.core.clock import Clock
from abacus.platform.reading.shared_cache import CachedValue


class MemorySharedCache:
    """`SharedCache`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.texts: dict[str, CachedValue] = {}

    async def find(self, keys: Sequence[str]) -> Mapping[str, str]:
        now = self._clock.now().timestamp()
        return {key: self.texts[key].value for key in keys if key in self.texts and now < self.texts[key].until}

    async def keep(self, values: Mapping[str, CachedValue]) -> None:
        self.texts.update(values)

    async def claim(self, key: str, *, for_s: float) -> bool:
        now = self._clock.now().timestamp()
        if key in self.texts and now < self.texts[key].until:
            return False
        self.texts[key] = CachedValue("", now + for_s)
        return True
