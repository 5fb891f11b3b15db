"""The caches of a process: made, switched and closed together."""

import random
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from abacus.core.clock import Clock
from abacus.platform.health import Health
from abacus.platform.reading.answer_cache import AnswerCache
from abacus.platform.reading.decide.shares import Settings, share_of
from abacus.platform.reading.part_cache import Part, PartCache
from abacus.platform.reading.shared_cache import NothingShared, SharedCache
from abacus.platform.reading.types import Key, Route, Value, Version

_NOTHING_SHARED: Final = NothingShared()
_RNG: Final = random.Random()

_Cache: TypeAlias = AnswerCache[Any, Any] | PartCache[Any, Any]


class Caches:
    """Nothing is kept before there are settings."""

    def __init__(
        self,
        clock: Clock,
        *,
        shared: SharedCache = _NOTHING_SHARED,
        health: Health | None = None,
        settings: Settings | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        rng: random.Random = _RNG,
    ) -> None:
        self._clock = clock
        self._shared = shared
        self._health = health
        self._monotonic = monotonic
        self._rng = rng
        self._settings = settings
        self._all: list[_Cache] = []

    def of(
        self,
        route: Route[Key, Value],
        compute: Callable[[Key], Awaitable[Value]],
        version_of: Callable[[Key], Version] | None = None,
    ) -> AnswerCache[Key, Value]:
        """A new cache of the route's answers. For the arguments see `AnswerCache`."""
        cache = AnswerCache(
            route,
            compute,
            clock=self._clock,
            version_of=version_of,
            shared=self._shared,
            health=self._health,
            monotonic=self._monotonic,
            rng=self._rng,
        )
        self._add(cache)
        return cache

    def of_parts(self, route: Route[Part, Value], *, shared: SharedCache | None = None) -> PartCache[Part, Value]:
        """A new cache of the parts of the route's answers, which may be shared in a place of their own."""
        cache = PartCache(route, clock=self._clock, shared=shared or self._shared, rng=self._rng)
        self._add(cache)
        return cache

    @property
    def settings(self) -> Settings:
        """Those in force."""
        return self._settings or {}

    @property
    def refreshing(self) -> int:
        """How many answers are refreshed, or written for other processes, at the moment."""
        return sum(each.refreshing for each in self._all)

    def switch(self, settings: Settings) -> None:
        """The shares are those of these settings from now on."""
        self._settings = settings
        for cache in self._all:
            cache.limit(self._share(cache.route))

    async def close(self) -> None:
        for cache in self._all:
            await cache.close()

    def _add(self, cache: _Cache) -> None:
        cache.limit(self._share(cache.route))
        self._all.append(cache)

    def _share(self, route: Route[Any, Any]) -> int:
        if self._settings is None:
            return 0
        share = share_of(route.name, self._settings)
        return route.share if share is None else share
