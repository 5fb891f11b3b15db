"""Counters that keep minutes, for charts: how many increments a row gathers before it is written, and 12 hot keys.

An increment adds an event to a slot of a key: with minutes, quarters, hours and days each key of an event has four.
"""

import asyncio
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from itertools import count, islice
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import orjson

from abacus.core.clock import SystemClock
from abacus.core.errors import Unavailable
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.kafka.reader import Record
from abacus.platform.migrations import migrate
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, open_pool
from abacus.process import look_for_garbage_seldom
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.grid import grain_of
from abacus.signals.counters.decide.keep import DEFAULT_KEEP
from abacus.signals.counters.decide.template import read_template
from abacus.signals.counters.kind import Documents
from abacus.signals.counters.open_rows import OpenRows
from abacus.signals.counters.reading.series_service import SeriesService
from abacus.signals.counters.reading.types import Series, SeriesLookup
from abacus.signals.counters.store.postgres import PostgresCounterStore
from abacus.signals.counters.types import Grain, Row, RowKey
from abacus.signals.events.decide.source import parse_source
from benchmarks.counters_writer import OPEN_ROWS, PARTITIONS, RIDES, TOPIC, writer_of
from benchmarks.report import Figure, rate

READ_AT_ONCE: Final = 20_000  # as the counter reads of a backlog
GATHER_S: Final = 0.2
WARM_UP: Final = 2
BATCHES: Final = 8
CITIES: Final = 2_000
WANTED_GATHERED: Final = 100
WANTED_HOT: Final = 50_000
MOST_WRITES: Final = 10  # of one row in a second: nothing waits for it
PACED_S: Final = 10
SERIES: Final = 100
ASKED: Final = 50

_KEPT: Final = {**DEFAULT_KEEP, Grain.MINUTE: 6 * 3_600}
_COUNTED: Final = frozenset(_KEPT)
_PUBLISHED: Final = datetime(2026, 1, 1, tzinfo=UTC)
_TEMPLATES: Final = ("city:{city}", "vehicle:{vehicle}", "country:{country}")
_VEHICLES: Final = ("car", "bike", "van", "boat")
_COUNTRIES: Final = ("SG", "ID", "VN", "TH")

Choice: TypeAlias = Callable[[random.Random], tuple[int, str, str]]  # of a city, a vehicle and a country


class _Written(NamedTuple):
    """What a stream came to: events, the seconds that they took, how often each row was written, and the rows that
    remember events.
    """

    events: int
    seconds: float
    rows: Counter[RowKey]
    remembered: int

    @property
    def increments(self) -> int:
        return self.events * len(_TEMPLATES) * len(_COUNTED)

    @property
    def gathered(self) -> float:
        return self.increments / self.rows.total()

    @property
    def most_writes(self) -> float:
        """Of one row, in a second."""
        return max(self.rows.values()) / self.seconds


class _WatchedStore(PostgresCounterStore):
    """Counts how often each row is written."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, SystemClock())
        self.written: Counter[RowKey] = Counter()
        self.remembered = 0

    async def save(self, rows: Sequence[Row]) -> None:
        counted = [row.key for row in rows if grain_of(row.key.slot) in _COUNTED]
        self.written.update(counted)
        self.remembered += len(rows) - len(counted)
        await super().save(rows)


async def measure(directory: Path) -> list[Figure]:
    async with EmbeddedStack(directory, sqs=False, kafka=False) as stack:
        url = stack.database_url or ""
        await migrate(url)
        look_for_garbage_seldom()
        async with AsyncExitStack() as opened:
            pool = await open_pool(url, size=3, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
            opened.push_async_callback(pool.close)
            skewed = await _written(pool, "skewed", _few_cities)
            hot = await _written(pool, "hot", _twelve)
            paced = await _paced(pool)
            slots, latencies_s = await _read(pool)
    return [
        Figure(
            f"increments for each row written, {skewed.events:,} rides in {CITIES:,} cities of which few have most",
            f"{skewed.gathered:,.0f}",
            f"{skewed.increments:,} in {skewed.rows.total():,} rows; {rate(skewed.events / skewed.seconds, 'events')},"
            f" and {skewed.remembered / skewed.events:.2f} rows to remember each event",
            f">= {WANTED_GATHERED}",
            skewed.gathered >= WANTED_GATHERED,
            anywhere=True,
        ),
        Figure(
            f"12 hot keys, {hot.events:,} events as quickly as they are counted, each under three of the keys",
            rate(hot.increments / hot.seconds, "increments"),
            f"{rate(hot.events * len(_TEMPLATES) / hot.seconds, 'events under a key')},"
            f" {hot.gathered:,.0f} increments for each row written",
            f">= {WANTED_HOT:,}/s",
            hot.increments / hot.seconds >= WANTED_HOT,
        ),
        Figure(
            f"… at {WANTED_HOT:,} increments/s for {PACED_S} s: writes of the row that is written most",
            f"{paced.most_writes:.1f} a second",
            f"{paced.gathered:,.0f} increments for each row written;"
            f" {paced.seconds - PACED_S:.1f} s behind the clock at the end",
            f"<= {MOST_WRITES} a second",
            paced.most_writes <= MOST_WRITES,
        ),
        Figure(
            f"{SERIES} series together, {slots:,} slots of a minute",
            f"p50 {statistics.median(latencies_s) * 1000:.0f} ms, at most {max(latencies_s) * 1000:.0f} ms",
        ),
    ]


def _few_cities(rng: random.Random) -> tuple[int, str, str]:
    return min(int(rng.paretovariate(0.8)), CITIES), rng.choice(_VEHICLES), rng.choice(_COUNTRIES)


def _twelve(rng: random.Random) -> tuple[int, str, str]:
    """Four cities, four vehicles and four countries, each as often as the others."""
    return rng.randrange(4), rng.choice(_VEHICLES), rng.choice(_COUNTRIES)


def _records(choose: Choice) -> Iterator[Record]:
    """Rides of the last half hour, 25,000 a second by their own times; a city's are in one partition."""
    rng, offsets = random.Random(1), [0] * PARTITIONS
    at = datetime.now(UTC) - timedelta(minutes=30)
    for number in count():
        at += timedelta(milliseconds=0.04)
        city, vehicle, country = choose(rng)
        partition = city % PARTITIONS
        body = orjson.dumps(
            {
                "type": "ride.completed",
                "id": f"S-{number:010}",
                "member": f"m{number}",
                "country": country,
                "at": at.isoformat(),
                "city": city,
                "vehicle": vehicle,
                "fare": "12.50",
            }
        )
        yield Record(body, TOPIC, partition, offsets[partition], int(at.timestamp() * 1000))
        offsets[partition] += 1


async def _written(pool: Pool, name: str, choose: Choice) -> _Written:
    """What the writer of a topic of its own makes of the stream, once it has counted for a while."""
    store = _WatchedStore(pool)
    writer = writer_of(pool, store, name, _documents(), OpenRows(OPEN_ROWS))
    records = _records(choose)
    batches = [list(islice(records, READ_AT_ONCE)) for _ in range(WARM_UP + BATCHES)]
    for batch in batches[:WARM_UP]:
        await writer.handle(batch)
    store.written.clear()
    store.remembered = 0
    began = time.perf_counter()
    for batch in batches[WARM_UP:]:
        await writer.handle(batch)
    seconds = time.perf_counter() - began
    await _check(pool, name, (WARM_UP + BATCHES) * READ_AT_ONCE)
    return _Written(BATCHES * READ_AT_ONCE, seconds, store.written, store.remembered)


async def _paced(pool: Pool) -> _Written:
    """The hot keys at the wanted rate, by the clock: each batch has what came since the one before it began."""
    store = _WatchedStore(pool)
    writer = writer_of(pool, store, "paced", _documents(), OpenRows(OPEN_ROWS))
    all_ = WANTED_HOT * PACED_S // len(_TEMPLATES) // len(_COUNTED)
    records = list(islice(_records(_twelve), all_))
    began, done = time.perf_counter(), 0
    while done < all_:
        await asyncio.sleep(GATHER_S)  # as the reader of a topic does
        came = min(all_, int((time.perf_counter() - began) / PACED_S * all_))
        await writer.handle(records[done:came])
        done = came
    seconds = time.perf_counter() - began
    await _check(pool, "paced", all_)
    return _Written(all_, seconds, store.written, store.remembered)


async def _check(pool: Pool, name: str, events: int) -> None:
    """Raises `Unavailable` where an increment is lost or doubled in any grain."""
    all_ = events * len(_TEMPLATES)
    rows = await pool.fetch(
        "select slot >> 28 as grain, sum(count)::bigint as counted from counter_row r"
        " join counter_series s on s.series = r.writer / 65536 where s.identity = $1 group by slot >> 28",
        name,
    )
    sums = {Grain(row["grain"]): row["counted"] for row in rows if row["grain"] in _COUNTED}
    if sums != dict.fromkeys(_COUNTED, all_):
        raise Unavailable("counter", f"{all_:,} events under a key, and counted were {sums}")


async def _read(pool: Pool) -> tuple[int, list[float]]:
    """The slots of the last hour of the busiest cities, and how long the requests took."""
    catalog = _documents().of(TOPIC).catalog
    service = SeriesService(lambda: catalog, PostgresCounterStore(pool, SystemClock()), SystemClock(), within_s=30)
    now = int(time.time())
    lookups = [SeriesLookup(f"city:{city}", now - 3_600, now, Grain.MINUTE) for city in range(1, SERIES + 1)]
    latencies_s = []
    slots = 0
    for _ in range(ASKED):
        began = time.perf_counter()
        told = await service.series(lookups)
        latencies_s.append(time.perf_counter() - began)
        slots = sum(len(each.begins) for each in told if isinstance(each, Series))
    return slots, latencies_s


def _documents() -> Documents:
    source = parse_source(RIDES).published(1)
    counters = [
        Definition(
            id=number,
            name=f"c{number}",
            template=read_template(template),
            on=(("rides", "ride.completed"),),
            keep=_KEPT,
            version=1,
            published_at=_PUBLISHED,
        )
        for number, template in enumerate(_TEMPLATES, 1)
    ]
    catalog = Catalog(counters, {"rides": source})
    return Documents(lambda: catalog, "events")
