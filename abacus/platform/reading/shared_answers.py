"""The answers of a route in the cache that processes share: those of other versions stand under other keys."""

from collections.abc import Iterable, Mapping
from typing import Final, Generic

import structlog

from abacus.core.clock import Clock
from abacus.platform.reading.shared_cache import CachedValue, NothingShared, SharedCache
from abacus.platform.reading.types import Codec, Key, Route, Value, Version

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
        by_name = {self._name(key, version): key for key in keys}
        found = dict[Key, tuple[Value, float]]()
        for name, text in (await self._cache.find(list(by_name))).items():
            try:
                value, age_s = self._read(text)
            except (ValueError, TypeError, LookupError):
                log.warning("a shared answer cannot be read", route=self._route.name)
                continue
            if age_s < self._route.lifetimes.fresh_s and self._now_s() < self._route.until_of(value):
                found[by_name[name]] = value, age_s
        return found

    async def keep(self, values: Mapping[Key, Value], version: Version) -> None:
        now = self._now_s()
        until = now + self._route.lifetimes.fresh_s
        texts = {self._name(key, version): f"{now:.3f} {self._codec.write(value)}" for key, value in values.items()}
        await self._cache.keep({name: CachedValue(text, until) for name, text in texts.items()})

    async def claim(self, key: Key, version: Version) -> bool:
        """Whether this process refreshes the answer; no other does for a moment."""
        return await self._cache.claim(f"{self._name(key, version)}:claimed", for_s=_CLAIMED_S)

    def _read(self, text: str) -> tuple[Value, float]:
        at, _, written = text.partition(" ")
        return self._codec.read(written), max(0.0, self._now_s() - float(at))

    def _now_s(self) -> float:
        return self._clock.now().timestamp()

    def _name(self, key: Key, version: Version) -> str:
        """The fields of a tuple stand there without their names."""
        numbers = ".".join(map(str, version))
        meaning = tuple(key) if isinstance(key, tuple) else key
        return f"answer:{self._route.name}:{self._codec.format}:{numbers}:{meaning!r}"


def shared_answers(route: Route[Key, Value], cache: SharedCache, clock: Clock) -> SharedAnswers[Key, Value] | None:
    """None where the answers of the route are not shared."""
    if route.codec is None or isinstance(cache, NothingShared):
        return None
    return SharedAnswers(route, route.codec, cache, clock)
