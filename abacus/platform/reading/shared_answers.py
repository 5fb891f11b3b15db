"""The answers of a route in the cache that processes share: those of other versions stand under other keys."""

from collections.abc import Iterable, Mapping
from typing import Final, Generic

import structlog

from abacus.core.clock import Clock
from abacus.platform.reading.shared_cache import CachedValue, NothingShared, SharedCache
from abacus.platform.reading.types import Codec, Key, Meaning, Route, Value, Version

AS_OLD_S: Final = 0.5  # between two readings of an answer's age, by clocks that differ
_CLAIMED_S: Final = 1.0  # longer than a computation may take, and until another process tries again

log = structlog.get_logger(__name__)


class SharedAnswers(Generic[Key, Value]):
    """Only fresh answers are shared. A cache that is slow or away has none."""

    def __init__(self, route: Route[Key, Value], codec: Codec[Value], cache: SharedCache, clock: Clock) -> None:
        self._route = route
        self._codec = codec
        self._cache = cache
        self._clock = clock

    async def find(self, keys: Iterable[Key], version: Version) -> Mapping[Key, tuple[Value, float]]:
        """The answers that some process has kept, with their ages."""
        of_version, route = self._of_version(version), self._route
        by_name = {of_version + _meaning(key): key for key in keys}
        texts = await self._cache.find(list(by_name))
        found, now = dict[Key, tuple[Value, float]](), self._now_s()
        for name, text in texts.items():
            at, _, written = text.partition(" ")
            try:
                value, age_s = self._codec.read(written), max(0.0, now - float(at))
            except (ValueError, TypeError, LookupError):
                log.warning("a shared answer cannot be read", route=route.name)
                continue
            if age_s < route.lifetimes.fresh_s and now < route.until_of(value):
                found[by_name[name]] = value, age_s
        return found

    async def keep(self, values: Mapping[Key, Value], version: Version) -> None:
        of_version, write, now = self._of_version(version), self._codec.write, self._now_s()
        at, until = f"{now:.3f} ", now + self._route.lifetimes.fresh_s
        await self._cache.keep(
            {of_version + _meaning(key): CachedValue(at + write(value), until) for key, value in values.items()}
        )

    async def claim(self, key: Key, version: Version) -> bool:
        """Whether this process refreshes the answer; no other does for a moment."""
        return await self._cache.claim(f"{self._of_version(version)}{_meaning(key)}:claimed", for_s=_CLAIMED_S)

    def _now_s(self) -> float:
        return self._clock.now().timestamp()

    def _of_version(self, version: Version) -> str:
        """The beginning of the names of these answers."""
        numbers = ".".join(map(str, version))
        return f"answer:{self._route.name}:{self._codec.format}:{numbers}:"


def _meaning(key: Meaning) -> str:
    """The fields of a tuple stand there without their names."""
    return repr(tuple(key) if isinstance(key, tuple) else key)


def shared_answers(route: Route[Key, Value], cache: SharedCache, clock: Clock) -> SharedAnswers[Key, Value] | None:
    """None where the answers of the route are not shared."""
    if route.codec is None or isinstance(cache, NothingShared):
        return None
    return SharedAnswers(route, route.codec, cache, clock)
