"""A cache of answers by their meaning: fresh, then stale while one refreshes behind the answer, then gone.

It belongs to one loop and has no lock. All that waits has a deadline, so that no store can hold up callers for longer.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from math import inf
from typing import Final, Generic
from zlib import crc32

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Refused, Unavailable
from abacus.platform.health import Health
from abacus.platform.metrics import CACHE_REFRESHES
from abacus.platform.reading.beside import Beside
from abacus.platform.reading.breaker import Breaker
from abacus.platform.reading.cache_figures import Figures
from abacus.platform.reading.decide.shelf import OF_A_TAG, OVERHEAD, Kept, Shelf
from abacus.platform.reading.shared_answers import AS_OLD_S, shared_answers
from abacus.platform.reading.shared_cache import NothingShared, SharedCache
from abacus.platform.reading.types import ALL, Answer, Key, Route, Value, Version

_RETRY_S: Final = 1.0  # between two tries to refresh an answer
_AT_ONCE: Final = 64  # answers that are refreshed at the same time
_MOST_CHANGES: Final = 10_000
_NOTHING_SHARED: Final = NothingShared()
_RNG: Final = random.Random()

log = structlog.get_logger(__name__)


class _Flight(Generic[Key, Value]):
    """A computation under way: what it was begun from, and who else waits for it."""

    __slots__ = ("_over", "began", "version")

    def __init__(self, began: int, version: Version) -> None:
        self.began = began
        self.version = version
        self._over: asyncio.Future[Kept[Key, Value] | Exception | None] | None = None

    async def outcome(self) -> Kept[Key, Value] | Exception | None:
        """None where its caller has left."""
        if self._over is None:
            self._over = asyncio.get_running_loop().create_future()
        return await asyncio.shield(self._over)

    def end(self, outcome: Kept[Key, Value] | Exception | None) -> None:
        if self._over is not None and not self._over.done():
            self._over.set_result(outcome)


class AnswerCache(Generic[Key, Value]):
    """The answers of one route in this process, and in the cache that processes share. `compute` makes an answer from
    its key alone. `version_of` says what this process knows of all that the answer follows from, so that processes that
    know the same share it.
    """

    def __init__(
        self,
        route: Route[Key, Value],
        compute: Callable[[Key], Awaitable[Value]],
        *,
        clock: Clock,
        version_of: Callable[[Key], Version] | None = None,
        shared: SharedCache = _NOTHING_SHARED,
        health: Health | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        rng: random.Random = _RNG,
    ) -> None:
        self.route: Final = route
        self._compute = compute
        self._clock = clock
        self._version_of = version_of
        self._monotonic = monotonic
        self._rng = rng
        self._breaker = None if route.within_s is None else Breaker(route.name, clock_s=monotonic, health=health)
        self._shared = shared_answers(route, shared, clock)
        if route.codec is not None and version_of is None:
            raise ValueError(f"{route.name}: other processes cannot tell which of the shared answers are old")
        self._shelf: Shelf[Key, Value] = Shelf(route.most_bytes)
        self._by_key = self._shelf.by_key
        self._figures = Figures(route.name, self._shelf)
        self._percent = route.share
        self._flights: dict[Key, _Flight[Key, Value]] = {}
        self._changes = 0
        self._changed_all = 0
        self._changed: dict[str, int] = {}  # the last change of a tag, as long as something is under way
        self._beside = Beside()

    def __len__(self) -> int:
        """How many answers are kept."""
        return len(self._shelf)

    @property
    def refreshing(self) -> int:
        """How many answers are refreshed, or written for other processes, at the moment."""
        return len(self._beside)

    async def get(self, key: Key) -> Answer[Value]:
        """Raises `Unavailable`, and what the computation raises."""
        kept = self._by_key.get(key)
        if kept is not None:
            now = self._monotonic()
            if now < kept.fresh_until:
                kept.asked = True
                self._figures.hits.inc()
                return Answer(kept.value, now - kept.born)
            if now < kept.stale_until:
                kept.asked = True
                self._refresh_behind(kept, now)
                return self._figures.told_stale(kept, now)
        return await self._told(key)

    def fresh(self, keys: Sequence[Key]) -> tuple[list[Value | None], float]:
        """The fresh answers to many keys, with None for each that `get` has to be asked for, and the age of the oldest.
        Where most are there, it costs a fraction of asking for each.
        """
        now, by_key = self._monotonic(), self._by_key
        values: list[Value | None] = []
        oldest, missing = now, 0
        for key in keys:
            kept = by_key.get(key)
            if kept is None or now >= kept.fresh_until:
                values.append(None)
                missing += 1
            else:
                kept.asked = True
                values.append(kept.value)
                oldest = min(oldest, kept.born)
        self._figures.hits.inc(len(values) - missing)
        return values, now - oldest

    def drop(self, tags: Collection[str]) -> None:
        """The sources have changed: answers with one of these tags are gone, and what was begun before is not kept."""
        self._changes += 1
        if self._flights:
            if len(self._changed) + len(tags) > _MOST_CHANGES:
                self._changed.clear()
                self._changed_all = self._changes
            else:
                self._changed.update(dict.fromkeys(tags, self._changes))
        self._figures.dropped.inc(self._shelf.drop(tags))

    def drop_all(self) -> None:
        """The sources have changed altogether."""
        self._changes += 1
        self._changed_all = self._changes
        self._figures.dropped.inc(len(self._shelf))
        self._shelf.clear()

    def limit(self, percent: int) -> None:
        """Answers of this share of the keys are kept from now on."""
        if percent < self._percent:
            self.drop_all()
        self._percent = percent

    async def close(self) -> None:
        await self._beside.close()
        self.drop_all()

    async def _told(self, key: Key) -> Answer[Value]:
        try:
            found = await self._found(key)
        except Unavailable:
            kept, now = self._by_key.get(key), self._monotonic()
            if kept is None or now >= kept.gone_at:
                self._figures.failed.inc()
                raise
            kept.asked = True
            return self._figures.told_away(kept, now)
        return Answer(found.value, max(0.0, self._monotonic() - found.born))

    async def _found(self, key: Key) -> Kept[Key, Value]:
        """Waits for a computation that is under way, if nothing has changed since it was begun, nor the clock makes it
        wrong.
        """
        asked, asked_at = self._changes, self._monotonic()
        while (flight := self._flights.get(key)) is not None:
            is_new_enough = flight.began >= asked
            outcome = await flight.outcome()
            if outcome is None or not is_new_enough:
                continue
            if isinstance(outcome, Exception):
                self._figures.waits.inc()
                raise outcome
            if asked_at < outcome.gone_at:
                self._figures.waits.inc()
                return outcome
        return await self._flown(key)

    async def _flown(self, key: Key) -> Kept[Key, Value]:
        flight = self._flights[key] = _Flight[Key, Value](self._changes, self._version(key))
        try:
            kept = await self._computed(key, flight)
        except BaseException as error:
            flight.end(error if isinstance(error, Exception) else None)
            raise
        else:
            flight.end(kept)
            return kept
        finally:
            del self._flights[key]
            if not self._flights:
                self._changed.clear()

    async def _computed(self, key: Key, flight: _Flight[Key, Value]) -> Kept[Key, Value]:
        is_kept = self._percent >= ALL or crc32(repr(key).encode()) % ALL < self._percent
        shares = self._shared if is_kept else None
        if shares is not None:
            for value, age_s in (await shares.find([key], flight.version)).values():
                if self._is_news(key, flight.version, age_s):
                    self._figures.shared.inc()
                    return self._keep(key, value, flight, age_s)
        if self._breaker is None or self.route.within_s is None:
            value = await self._compute(key)
        else:
            value = await self._breaker.call(partial(self._compute, key), within_s=self.route.within_s)
        if not is_kept:
            self._figures.passed.inc()
            return self._new(key, value, flight, 0.0, ())
        self._figures.misses.inc()
        kept = self._keep(key, value, flight, 0.0)
        if shares is not None and not self._is_overtaken(kept, flight) and self._version(key) == flight.version:
            self._beside.begin(shares.keep({key: value}, flight.version))
        return kept

    def _version(self, key: Key) -> Version:
        return () if self._version_of is None else self._version_of(key)

    def _is_news(self, key: Key, version: Version, age_s: float) -> bool:
        """Whether a shared answer is younger than what is kept, which is refreshed before others hold it for old."""
        kept = self._by_key.get(key)
        return kept is None or kept.version != version or self._monotonic() - age_s > kept.born + AS_OLD_S

    def _keep(self, key: Key, value: Value, flight: _Flight[Key, Value], age_s: float) -> Kept[Key, Value]:
        """A change that came while it was computed may not be in it: then it is told to earlier callers, and not
        kept.
        """
        kept = self._new(key, value, flight, age_s, self.route.tags_of(key, value))
        if self._is_overtaken(kept, flight):
            self._figures.overtaken.inc()
            return kept
        if went := self._shelf.put(kept, self._monotonic()):
            self._figures.evicted.inc(went)
        return kept

    def _is_overtaken(self, kept: Kept[Key, Value], flight: _Flight[Key, Value]) -> bool:
        """Whether a change came while it was computed."""
        began, changed = flight.began, self._changed
        return self._changed_all > began or (bool(changed) and any(changed.get(tag, 0) > began for tag in kept.tags))

    def _new(
        self, key: Key, value: Value, flight: _Flight[Key, Value], age_s: float, tags: Collection[str]
    ) -> Kept[Key, Value]:
        lifetimes, until = self.route.lifetimes, self.route.until_of(value)
        now = self._monotonic()
        born = now - age_s
        wrong_at = until if until == inf else now + until - self._clock.now().timestamp()
        return Kept(
            key,
            value,
            born=born,
            fresh_until=min(wrong_at, born + lifetimes.fresh_for(self._rng.random())),
            stale_until=min(wrong_at, born + lifetimes.fresh_s + lifetimes.stale_s),
            gone_at=min(wrong_at, born + lifetimes.kept_s),
            size=OVERHEAD + OF_A_TAG * len(tags) + self.route.size_of(key, value),
            version=flight.version,
            tags=tags,
        )

    def _refresh_behind(self, kept: Kept[Key, Value], now: float) -> None:
        if now >= kept.tried_at + _RETRY_S and kept.key not in self._flights and len(self._beside) < _AT_ONCE:
            kept.tried_at = now
            self._beside.begin(self._refresh(kept))

    async def _refresh(self, kept: Kept[Key, Value]) -> None:
        outcome = "failed"
        try:
            if self._shared is not None and not await self._shared.claim(kept.key, kept.version):
                outcome = "left"
            elif kept.key not in self._flights:
                await self._flown(kept.key)
                outcome = "done"
        except Unavailable:
            pass  # the breaker has told the health
        except Refused:  # there is no such answer any more
            self._shelf.remove(kept.key)
            outcome = "done"
        except Exception:
            log.exception("an answer could not be refreshed", route=self.route.name)
        CACHE_REFRESHES.labels(self.route.name, outcome).inc()
