"""A day of requests, replayed on a simulated clock, in caches that differ in their keys alone: how many answers each
finds, how many of these are wrong, and what a request costs.

At noon, in the busiest hour, one region of a hundred is not there any more. All caches keep an answer fresh for ten
minutes and refresh it behind an answer for ten more; an answer is wrong where the exact regions now are others.
"""

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from abacus.core.clock import SystemClock
from abacus.platform.reading.answer_cache import AnswerCache
from abacus.platform.reading.decide.lifetimes import Lifetimes
from abacus.platform.reading.types import Meaning, Route
from abacus.signals.places.decide.country_index import build
from abacus.signals.places.decide.point import point
from abacus.signals.places.decide.region import Region
from abacus.signals.places.decide.region_index import Found, RegionIndex
from benchmarks.phones import COUNTRY, Request, city, requests
from benchmarks.places_keys import Way, ways
from benchmarks.report import Figure

REQUESTS: Final = 1_000_000
MEMBERS: Final = 200_000
REGIONS: Final = 5_000
WANTED_FOUND: Final = 0.9

_CHANGED_AT_S: Final = 12.5 * 3_600
_LEFT_OUT: Final = 100  # one region of so many
_TEN_MINUTES_S: Final = 600.0
_MOST_BYTES: Final = 256 * 1024 * 1024
_SIZE: Final = 300


class Day(NamedTuple):
    """What one way made of the day."""

    way: Way
    fresh: int
    stale: int
    wrong: int
    asked: int
    computed: int
    cpu_s: float

    @property
    def found(self) -> float:
        """The share of requests that were answered without a computation to wait for."""
        return 1 - (self.asked - self.fresh - self.stale) / self.asked


class _World:
    """The regions in force, as a clock that is moved says."""

    def __init__(self, drawn: Sequence[Region]) -> None:
        fewer = [each for place, each in enumerate(drawn) if place % _LEFT_OUT]
        self._before = RegionIndex({COUNTRY: build(drawn)}, {COUNTRY: 1})
        self._since = RegionIndex({COUNTRY: build(fewer)}, {COUNTRY: 2})
        self.now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s

    def index(self) -> RegionIndex:
        return self._before if self.now_s < _CHANGED_AT_S else self._since


class _Asker:
    """Asks one cache. What is computed are the regions of the request that had to wait, as a database tells them."""

    def __init__(self, way: Way, world: _World) -> None:
        self._world = world
        self._way = way
        self._at = 0.0, 0.0
        self.computed = 0
        route = Route[Meaning, Found](
            name=way.name,
            lifetimes=Lifetimes(_TEN_MINUTES_S, _TEN_MINUTES_S),
            most_bytes=_MOST_BYTES,
            size_of=lambda _, __: _SIZE,
        )
        self._cache = AnswerCache(
            route, self._compute, clock=SystemClock(), monotonic=world.monotonic, rng=random.Random(1)
        )

    async def day(self, made: Sequence[Request]) -> Day:
        fresh = stale = wrong = 0
        began = time.process_time()
        for each in made:
            self._world.now_s = each.at_s
            before = self.computed
            self._at = each.lat, each.lon
            if self._way.key_of is None:
                told = await self._compute("")
            else:
                told = (await self._cache.get(self._way.key_of(each.lat, each.lon))).value
            if self.computed == before:
                is_old = self._cache.refreshing > 0
                fresh, stale = fresh + (not is_old), stale + is_old
                if is_old:
                    await _until_refreshed(self._cache)
            wrong += told != self._exact(each.lat, each.lon)
        cpu_s = time.process_time() - began
        await self._cache.close()
        return Day(self._way, fresh, stale, wrong, len(made), self.computed, cpu_s)

    async def _compute(self, _: Meaning) -> Found:
        self.computed += 1
        return self._exact(*self._at)

    def _exact(self, lat: float, lon: float) -> Found:
        return self._world.index().at(point(lat, lon))


async def _until_refreshed(cache: AnswerCache[Meaning, Found]) -> None:
    while cache.refreshing:  # noqa: ASYNC110  # the refresh runs meanwhile, on a clock that stands
        await asyncio.sleep(0)


async def days(number: int, members: int, many: int) -> list[Day]:
    drawn, box = city(many)
    world = _World(drawn)
    made = list(requests(number, members, box))
    return [await _Asker(way, world).day(made) for way in ways(world.index)]


async def measure(*, short: bool = False) -> list[Figure]:
    number, members, many = (50_000, 20_000, 400) if short else (REQUESTS, MEMBERS, REGIONS)
    return list(_figures(await days(number, members, many), many))


def _figures(measured: Sequence[Day], many: int) -> Iterator[Figure]:
    ours = measured[-1]
    for day in measured:
        is_ours = day is ours
        yield Figure(
            f"a day of {day.asked:,} requests among {many:,} regions, {day.way.name}",
            f"{day.found:.1%} found, {day.stale / day.asked:.1%} of them stale; {day.wrong:,} wrong",
            f"{day.computed:,} computed; {1e6 * day.cpu_s / day.asked:.1f} µs a request, checking it included",
            f">= {WANTED_FOUND:.0%} found, 0 wrong" if is_ours else "",
            (day.found >= WANTED_FOUND and not day.wrong) if is_ours else None,
            anywhere=not day.wrong,
        )
