"""The answers of a route in the cache that processes share: those of other versions stand under other keys."""

from typing import Final, Generic

import structlog

from abacus.core.clock import Clock
from abacus.platform.reading.shared_cache import CachedValue, SharedCache
from abacus.platform.reading.types import Codec, Key, Route, Value, Version

_CLAIMED_S: Final = 1.0  # longer than a computation may take, and until another process tries again

log = structlog.get_logger(__name__)


class NothingFound(Exception):
    """No process has kept this answer, or it cannot be read."""


class SharedAnswers(Generic[Key, Value]):
    """Only fresh answers are shared. A cache that is slow or away has none."""

    def __init__(self, route: Route[Key, Value], codec: Codec[Value], cache: SharedCache, clock: Clock) -> None:
        self._route = route
        self._codec = codec
        self._cache = cache
        self._clock = clock

    async def find(self, key: Key, version: Version) -> tuple[Value, float]:
        """The answer and its age. Raises `NothingFound`."""
        name = self._name(key, version)
        text = (await self._cache.find([name])).get(name)
        if text is None:
            raise NothingFound
        at, _, written = text.partition(" ")
        try:
            value = self._codec.read(written)
            age_s = max(0.0, self._now_s() - float(at))
        except (ValueError, TypeError, LookupError):
            log.warning("a shared answer cannot be read", route=self._route.name)
            raise NothingFound from None
        if age_s >= self._route.lifetimes.fresh_s or self._route.until_of(value) <= self._now_s():
            raise NothingFound
        return value, age_s

    async def keep(self, key: Key, version: Version, value: Value) -> None:
        now = self._now_s()
        text = f"{now:.3f} {self._codec.write(value)}"
        until = now + self._route.lifetimes.fresh_s
        await self._cache.keep({self._name(key, version): CachedValue(text, until)})

    async def claim(self, key: Key, version: Version) -> bool:
        """Whether this process refreshes the answer; no other does for a moment."""
        return await self._cache.claim(f"{self._name(key, version)}:claimed", for_s=_CLAIMED_S)

    def _now_s(self) -> float:
        return self._clock.now().timestamp()

    def _name(self, key: Key, version: Version) -> str:
        numbers = ".".join(map(str, version))
        return f"answer:{self._route.name}:{self._codec.format}:{numbers}:{key!r}"
