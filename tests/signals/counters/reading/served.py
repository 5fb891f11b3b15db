"""Counts at work: two processes that share closed parts, over one store in which events are counted."""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

from hypothesis import strategies as st

from abacus.platform.reading.caches import Caches
from abacus.platform.reading.decide.shares import ALL_CACHES, Setting, name_of
from abacus.platform.reading.part_cache import PartCache
from abacus.platform.reading.shared_cache import SharedCache
from abacus.signals.counters.decide.tiles import floor_quarter
from abacus.signals.counters.reading.cache_share import keeps_in
from abacus.signals.counters.reading.closed_parts import COUNTS, closed_parts
from abacus.signals.counters.reading.decide.kept import replay_of
from abacus.signals.counters.reading.rounds import Rounds
from abacus.signals.counters.reading.service import CountService
from abacus.signals.counters.reading.types import Lookup
from abacus.signals.counters.types import QUARTER_S
from tests.platform.reading.memory_shared_cache import MemorySharedCache
from tests.signals.counters.reading.asking import DAY_S, HOUR_S, NOW, catalog, definition, events
from tests.support.cached_routes import CachedRoute
from tests.support.fixed_clock import FixedClock
from tests.support.memory_counters import MemoryCounterStore

LATE_BY_S: Final = 3 * HOUR_S
RAIN: Final = definition()
SNOW: Final = definition("snow:{city_id}", id=60, name="count_snow", timezone="Asia/Kathmandu")
_BY_KEY: Final = {"rain:1": RAIN, "snow:1": SNOW}
_ENDS: Final = (0, LATE_BY_S - QUARTER_S, LATE_BY_S, DAY_S)  # ago
_LENGTHS: Final = (2 * HOUR_S, 5 * HOUR_S, DAY_S + HOUR_S, 7 * DAY_S + 3 * QUARTER_S)
_KEYS: Final = st.sampled_from([*_BY_KEY])


class Passed(NamedTuple):
    minutes: int


class Counting(NamedTuple):
    """An event of so long ago is counted."""

    key: str
    ago_s: int


class TooLate(NamedTuple):
    """An event that is later than the bound is counted, and then an hour goes by: so long may it be missing."""

    key: str
    ago_s: int


class Backfilled(NamedTuple):
    """A backfill announces itself, and counts an event of the past. Then time goes by."""

    key: str
    ago_s: int
    minutes: int


class Switched(NamedTuple):
    """Somebody sets the share, or that of all caches."""

    name: str
    percent: int


Change: TypeAlias = Passed | Counting | TooLate | Backfilled | Switched


class CountsAtWork:
    """`Serving`: a request asks both processes, as of so many seconds ago. Without `announces`, a backfill does not
    announce itself.
    """

    def __init__(self, *, announces: bool = True) -> None:
        self._announces = announces
        self._clock = FixedClock(NOW)
        self._store = MemoryCounterStore(self._clock)
        self._writer = 0
        self._settings = {name_of(COUNTS): Setting(name_of(COUNTS), 100, NOW, "tests")}
        shared = MemorySharedCache(self._clock)
        self._caches = [Caches(self._clock, settings=self._settings, rng=random.Random(each)) for each in range(2)]
        self._processes = [self._process(*each, shared) for each in zip(self._caches, (1000, 30), strict=True)]
        never = PartCache(closed_parts(0), clock=self._clock)
        rounds, known = Rounds(self._store, within_s=5, parts=never), catalog(RAIN, SNOW)
        self._exact = CountService(
            lambda: known, rounds, never, self._clock, late_by_s=LATE_BY_S, keeps=lambda _: False
        )

    def key_of(self, request: int) -> Any:
        lookups = self._lookups(request)
        return tuple(
            (_BY_KEY[key].stored_key(key), floor_quarter(begin), floor_quarter(end)) for key, begin, end in lookups
        )

    async def cached(self, request: int) -> Any:
        lookups = self._lookups(request)
        return [await process.counts(lookups) for process in self._processes]

    async def uncached(self, request: int) -> Any:
        return [await self._exact.counts(self._lookups(request))] * len(self._processes)

    async def change(self, change: Change) -> None:
        await self.cached(0)  # so that all is kept that the change could make wrong
        match change:
            case Passed(minutes):
                self._pass(timedelta(minutes=minutes))
            case Counting(key, ago_s):
                await self._count(key, ago_s)
            case TooLate(key, ago_s):
                await self._count(key, ago_s)
                self._pass(timedelta(hours=1))
            case Backfilled(key, ago_s, minutes):
                if self._announces:
                    self._set(replay_of(_BY_KEY[key]), 0, self._clock.now())
                await self._count(key, ago_s)
                self._pass(timedelta(minutes=minutes))
            case Switched(name, percent):
                self._set(name, percent, self._clock.now())

    async def close(self) -> None:
        for each in self._caches:
            await each.close()

    def _lookups(self, ago_s: int) -> Sequence[Lookup]:
        """Many ranges of each key, so that every event is in some of them, and begins or ends some."""
        now = int(self._clock.now().timestamp()) - ago_s
        ends = [now - each for each in _ENDS]
        return [Lookup(key, end - lasts, end) for key in _BY_KEY for end in ends for lasts in _LENGTHS]

    def _process(self, caches: Caches, most: int, shared: SharedCache) -> CountService:
        clock, known = self._clock, catalog(RAIN, SNOW)
        parts = caches.of_parts(closed_parts(most), shared=shared)
        rounds = Rounds(self._store, within_s=5, parts=parts)
        keeps = keeps_in(caches, parts, clock)
        return CountService(lambda: known, rounds, parts, clock, late_by_s=LATE_BY_S, keeps=keeps)

    def _pass(self, time: timedelta) -> None:
        self._clock.set(self._clock.now() + time)

    async def _count(self, key: str, ago_s: int) -> None:
        self._writer += 1
        at = int(self._clock.now().timestamp()) - ago_s
        await self._store.save(events(_BY_KEY[key], key, {at: 1}, writer=self._writer))

    def _set(self, name: str, value: int, at: datetime) -> None:
        self._settings = {**self._settings, name: Setting(name, value, at, "tests")}
        for each in self._caches:
            each.switch(self._settings)


@asynccontextmanager
async def _opened() -> AsyncIterator[CountsAtWork]:
    counts = CountsAtWork()
    yield counts
    await counts.close()


# Before and behind the bound and the borders of quarters, hours and days.
_REQUESTS: Final = st.sampled_from((0, 6 * 60, 8 * 60))
_LATE: Final = st.sampled_from((0, QUARTER_S, HOUR_S, LATE_BY_S - QUARTER_S, LATE_BY_S))
_OLD: Final = st.sampled_from((LATE_BY_S + 1, LATE_BY_S + HOUR_S, 7 * HOUR_S, DAY_S, DAY_S + 2 * HOUR_S, 5 * DAY_S))
_SWITCHES: Final = [(name_of(COUNTS), 50), (name_of(COUNTS), 100), (ALL_CACHES, 0), (ALL_CACHES, 100)]
_CHANGES: Final = st.one_of(
    st.builds(Passed, st.sampled_from((1, 15, 31, 61))),
    st.builds(Counting, _KEYS, _LATE),
    st.builds(TooLate, _KEYS, _OLD),
    st.builds(Backfilled, _KEYS, _OLD, st.sampled_from((0, 31))),
    st.sampled_from(_SWITCHES).map(lambda switch: Switched(*switch)),
)
COUNTS_AT_WORK: Final = CachedRoute[int, Change](COUNTS, _REQUESTS, _CHANGES, _opened)
