"""Requests by a clock, three times as many for a while, against a database that knows regions: with caches that differ
in their keys alone. A delay begins when a request was due.

The database tells the regions of a point by an index of polygons, and what is on offer in them; who asks by regions
knows these from memory, and asks it for the offers alone.
"""

import random
import statistics
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import asyncpg
import psutil

from abacus.core.clock import SystemClock
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.reading.answer_cache import AnswerCache
from abacus.platform.reading.decide.lifetimes import Lifetimes
from abacus.platform.reading.types import Meaning, Route
from abacus.signals.places.decide.country_index import build
from abacus.signals.places.decide.region import Region
from abacus.signals.places.decide.region_index import RegionIndex
from benchmarks.api import Load
from benchmarks.paced import open_loop
from benchmarks.phones import COUNTRY, Request, city, of_the_busiest_hour, requests
from benchmarks.places_keys import Way, ways
from benchmarks.report import Figure, rate
from benchmarks.workbench import cpu_seconds, listening, with_ended_children

SECONDS: Final = 12.0
USUAL: Final = 400.0  # requests a second
PEAK: Final = 3  # times as many, in the middle third
_CONNECTIONS: Final = 16
_OFFERS: Final = 4  # of a region
_MOST_BYTES: Final = 64 * 1024 * 1024
_SIZE: Final = 400
_FRESH_S: Final = 4.0  # as short beside the run as ten minutes are beside a day
_STALE_S: Final = 4.0

_MAKE: Final = (
    "create table area (id text primary key, shape polygon not null)",
    "create index area_shape on area using gist (shape)",
    "create table area_offer (area text, offer text, primary key (area, offer))",
)
_AT: Final = """
select o.offer from area a join area_offer o on o.area = a.id where a.shape @> point($1, $2) order by o.offer
"""
_OF: Final = "select offer from area_offer where area = any($1::text[]) order by offer"


class Stretch(NamedTuple):
    """What one way made of the stretch."""

    way: Way
    load: Load
    cpu_s: float
    database_s: float
    queries: int


class _Asker:
    def __init__(self, way: Way, pool: Pool) -> None:
        self._way = way
        self._pool = pool
        self.queries = 0
        self._waiting: dict[Meaning, Request] = {}
        route = Route[Meaning, Sequence[str]](
            way.name, Lifetimes(_FRESH_S, _STALE_S), _MOST_BYTES, size_of=lambda _, __: _SIZE, within_s=None
        )
        self.cache = AnswerCache(route, self._compute, clock=SystemClock(), rng=random.Random(1))

    async def ask(self, request: Request) -> object:
        if self._way.key_of is None:
            return await self._at(request)
        key = self._way.key_of(request.lat, request.lon)
        self._waiting[key] = request
        return await self.cache.get(key)

    async def _compute(self, key: Meaning) -> Sequence[str]:
        if self._way.is_exact and isinstance(key, tuple):  # the edition, and the regions
            self.queries += 1
            return [row[0] for row in await self._pool.fetch(_OF, list(key[1:]))]
        return await self._at(self._waiting[key])

    async def _at(self, request: Request) -> Sequence[str]:
        self.queries += 1
        return [row[0] for row in await self._pool.fetch(_AT, request.lon, request.lat)]


async def measure(directory: Path, *, short: bool = False) -> list[Figure]:
    many, members, seconds = (400, 20_000, 3.0) if short else (5_000, 200_000, SECONDS)
    drawn, box = city(many)
    index = RegionIndex({COUNTRY: build(drawn)}, {COUNTRY: 1})
    # A day whose busiest hour has as many requests as are sent, several times.
    made = of_the_busiest_hour(requests(200_000, members, box))
    async with _database(directory, drawn) as (pool, postgres):
        stretches = [await _stretch(way, pool, postgres, made, seconds) for way in ways(lambda: index)]
    return list(_figures(stretches))


async def _stretch(way: Way, pool: Pool, postgres: psutil.Process, made: Sequence[Request], seconds: float) -> Stretch:
    asker = _Asker(way, pool)
    before, began = _database_s(postgres), time.process_time()

    def per_s(second: float) -> float:
        return USUAL * (PEAK if seconds / 3 <= second < 2 * seconds / 3 else 1)

    load = await open_loop(asker.ask, cycle(made), per_s, seconds)
    cpu_s = time.process_time() - began
    await asker.cache.close()
    return Stretch(way, load, cpu_s, _database_s(postgres) - before, asker.queries)


@asynccontextmanager
async def _database(directory: Path, drawn: Sequence[Region]) -> AsyncIterator[tuple[Pool, psutil.Process]]:
    async with EmbeddedStack(directory, kafka=False, sqs=False) as embedded:
        url = embedded.database_url or ""
        pool = await open_pool(url, size=_CONNECTIONS, role=None)
        try:
            for statement in _MAKE:
                await pool.execute(statement)
            async with pool.acquire() as connection:
                shapes = [(each.id, asyncpg.Polygon(*each.parts[0][0][:-1])) for each in drawn]
                await connection.copy_records_to_table("area", records=shapes)
                offers = [(each.id, f"offer-{number}") for each in drawn for number in range(_OFFERS)]
                await connection.copy_records_to_table("area_offer", records=offers)
            await pool.execute("analyze area")
            await pool.execute("analyze area_offer")
            yield pool, listening()[urlsplit(url).port or 0]
        finally:
            await pool.close()


def _database_s(postgres: psutil.Process) -> float:
    return with_ended_children(postgres) + sum(cpu_seconds(child.pid) for child in postgres.children())


def _figures(stretches: Sequence[Stretch]) -> Iterator[Figure]:
    ours = stretches[-1]
    for each in stretches:
        number = len(each.load.latencies_s)
        ms = [1000 * cut for cut in statistics.quantiles(each.load.latencies_s, n=1000)]
        yield Figure(
            f"an open loop with a peak of {PEAK} times, {each.way.name}",
            f"p50 {ms[499]:.2f} ms, p99 {ms[989]:.1f} ms, p99.9 {ms[998]:.1f} ms",
            f"{rate(each.load.per_s, 'requests')}; {1e6 * each.cpu_s / number:.0f} µs of CPU a request;"
            f" the database saw {each.queries:,} queries for {number:,} requests, {each.database_s:.1f} s of CPU",
            "fewer queries than any other" if each is ours else "",
            each.queries == min(other.queries for other in stretches) if each is ours else None,
        )
