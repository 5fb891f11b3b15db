"""The caches of a process: made, switched and closed together."""

import random
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from abacus.core.clock import Clock
from abacus.platform.health import Health
from abacus.platform.reading.answer_cache import UNVERSIONED, AnswerCache, Sources
from abacus.platform.reading.cache_shares import Settings, are_off, name_of
from abacus.platform.reading.shared_cache import NothingShared, SharedCache
from abacus.platform.reading.types import Key, Route, Value

_NOTHING_SHARED: Final = NothingShared()
_RNG: Final = random.Random()


class Caches:
    """Nothing is kept before the settings were ever read."""

    def __init__(
        self,
        clock: Clock,
        *,
        shared: SharedCache = _NOTHING_SHARED,
        health: Health | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        rng: random.Random = _RNG,
    ) -> None:
        self._clock = clock
        self._shared = shared
        self._health = health
        self._monotonic = monotonic
        self._rng = rng
        self._settings: Settings | None = None
        self._all: list[AnswerCache[Any, Any]] = []

    def of(
        self,
        route: Route[Key, Value],
        compute: Callable[[Key], Awaitable[Value]],
        sources: Sources = UNVERSIONED,
    ) -> AnswerCache[Key, Value]:
        """A new cache of the route's answers."""
        cache = AnswerCache(
            route,
            compute,
            clock=self._clock,
            sources=sources,
            shared=self._shared,
            health=self._health,
            monotonic=self._monotonic,
            rng=self._rng,
        )
        cache.limit(self._share(route))
        self._all.append(cache)
        return cache

    def switch(self, settings: Settings) -> None:
        """The shares are those of these settings from now on."""
        self._settings = settings
        for cache in self._all:
            cache.limit(self._share(cache.route))

    async def close(self) -> None:
        for cache in self._all:
            await cache.close()

    def _share(self, route: Route[Any, Any]) -> int:
        settings = self._settings
        if settings is None or are_off(settings):
            return 0
        setting = settings.get(name_of(route.name))
        return route.share if setting is None else setting.value
