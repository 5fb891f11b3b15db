"""Lookups of counters over HTTP, ten to a request: the rates of one process; and a day of lookups in three caches."""

import asyncio
import random
import statistics
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from typing import Any, Final, NamedTuple

from abacus.core.clock import SystemClock
from abacus.documents.store import DocumentStore
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.migrations import migrate
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.settings import Settings
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.definition_document import parse_definition
from abacus.signals.counters.decide.tiles import slots_of
from abacus.signals.counters.kind import COUNTERS, held_sources
from abacus.signals.counters.reading.cache_share import CacheShareStore
from abacus.signals.counters.store.cassandra import schema
from abacus.signals.counters.store.cassandra.counters import CassandraCounterStore
from abacus.signals.counters.store.cassandra.session import Address, Session
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.store.postgres import PostgresCounterStore
from abacus.signals.counters.types import Count, Row, RowKey
from abacus.signals.events.decide.source import Source, parse_source
from abacus.signals.events.kind import SOURCES, Reserved
from benchmarks import count_caches
from benchmarks.api import CALLERS, ROUNDS, SECONDS, Load, free_port, is_up, load, request
from benchmarks.callers import entered_partner
from benchmarks.paced import paced
from benchmarks.pipeline import worker
from benchmarks.report import Figure, rate
from benchmarks.services import cassandra_alone

FEW: Final = 50  # definitions
MANY: Final = 5_000
KEYS: Final = 500
WRITERS: Final = 8
IN_REQUEST: Final = 10
REQUESTS: Final = 2_000  # different ones
STEADY: Final = 400  # requests a second
WANTED: Final = 800
WANTED_P99_MS: Final = 15
LEAST_OF_FEW: Final = 0.9

QUARTER_S: Final = 900
HOUR_S: Final = 3_600
DAY_S: Final = 86_400
_OLD: Final = timedelta(hours=2)  # of definitions that were just published nothing is kept
_SAVED_TOGETHER: Final = 10_000
_CASSANDRA: Final = "cassandra"
_WEATHER: Final[dict[str, Any]] = {
    "source": "weather",
    "topic": "weather.observations",
    "fields": {"type": "/type", "id": "/id", "time": "/at"},
    "types": {"rain.drop": {"city_id": {"pointer": "/city", "type": "text"}}},
}


class _Desk(NamedTuple):
    """Running counts, and the database behind them."""

    pool: Pool
    port: int
    key: str
    weather: Source

    async def keep(self, percent: int) -> None:
        """Closed parts of this share of the counters."""
        await CacheShareStore(self.pool, SystemClock()).set(percent, by="benchmark")
        await asyncio.sleep(1)

    async def publish(self, first: int, end: int) -> None:
        drafts = [parse_definition(_document(number), {"weather": self.weather}) for number in range(first, end)]
        await DocumentStore(self.pool, COUNTERS).publish(
            drafts, held_sources(()), by="benchmark", now=SystemClock().now() - _OLD
        )
        await asyncio.sleep(2)

    def requests(self, keys: Sequence[tuple[int, int]], seed: int) -> Iterator[bytes]:
        """The first keys are asked for most."""
        rng = random.Random(seed)
        now = int(SystemClock().now().timestamp())
        begins = (now - now % DAY_S, now - DAY_S, now - 7 * DAY_S, now - now % DAY_S - 30 * DAY_S)
        weights = [1 / (rank + 1) for rank in range(len(keys))]
        bodies = [
            {
                "queries": [
                    {"key": _key(*key), "from": rng.choice(begins), "to": now}
                    for key in rng.choices(keys, weights, k=IN_REQUEST)
                ]
            }
            for _ in range(REQUESTS)
        ]
        return cycle([request("POST", "/v1/counts", self.key, body) for body in bodies])


# Definitions and cities: as many keys of a few definitions as of many.
_OF_FEW: Final = [(number, city) for number in range(1, FEW + 1) for city in range(KEYS // FEW)]
_OF_MANY: Final = [(number, 0) for number in range(MANY, 0, -MANY // KEYS)]


async def measure(directory: Path) -> list[Figure]:
    """The rates, and the replay of a day."""
    first, second, cassandra = (directory / name for name in ("first", "second", _CASSANDRA))
    for folder in (first, second, cassandra):
        folder.mkdir()
    async with AsyncExitStack() as stack:
        figures = await _rates(await _desk(stack, first))
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(cassandra_alone(cassandra))
        figures += await _rates_on_cassandra(await _desk(stack, second, cassandra_port=port))
    return [*figures, *await count_caches.measure()]


async def _desk(stack: AsyncExitStack, directory: Path, *, cassandra_port: int | None = None) -> _Desk:
    """With rows in Cassandra, where its port is given, and else in Postgres."""
    embedded = await stack.enter_async_context(EmbeddedStack(directory, kafka=False, sqs=False))
    settings = Settings(database_url=embedded.database_url, counts_port=free_port())
    if cassandra_port is not None:
        more = {"counter_store": _CASSANDRA, "cassandra_hosts": "127.0.0.1", "cassandra_port": cassandra_port}
        settings = settings.model_copy(update=more)
    await migrate(settings.required("database_url"))
    pool = await open_pool(settings.required("database_url"), size=2)
    stack.push_async_callback(pool.close)
    now = SystemClock().now()
    (weather,) = await DocumentStore(pool, SOURCES).publish(
        [parse_source(_WEATHER)], Reserved((), settings.events_topic).look, by="benchmark", now=now
    )
    desk = _Desk(pool, settings.counts_port, await entered_partner(pool, may_count=True), weather.document)
    await desk.publish(1, FEW + 1)
    if cassandra_port is None:
        await _fill(PostgresCounterStore(pool, SystemClock()), weather.document, _OF_FEW + _OF_MANY)
        await _vacuum(pool)
    else:
        async with Session(Address(("127.0.0.1",), cassandra_port)) as session:
            await schema.make(session, settings.cassandra_keyspace, "datacenter1", 1)
            store = CassandraCounterStore(session, settings.cassandra_keyspace, SystemClock())
            await _fill(store, weather.document, _OF_FEW)
    await stack.enter_async_context(worker("counts", settings))
    await is_up(desk.port)
    return desk


async def _rates(desk: _Desk) -> list[Figure]:
    few = desk.requests(_OF_FEW, 1)
    rounds: dict[str, list[Load]] = {"read": [], "kept": [], "few": [], "many": []}
    await load(desk.port, few, CALLERS, SECONDS / 2)
    steady = await paced(desk.port, few, STEADY, 2 * SECONDS)
    for _ in range(ROUNDS):
        for name, percent in (("kept", 100), ("read", 0)):
            await desk.keep(percent)
            rounds[name].append(await load(desk.port, few, CALLERS, SECONDS))
    await desk.publish(FEW + 1, MANY + 1)
    many = desk.requests(_OF_MANY, 2)
    for _ in range(ROUNDS):
        rounds["many"].append(await load(desk.port, many, CALLERS, SECONDS))
        rounds["few"].append(await load(desk.port, few, CALLERS, SECONDS))
    read, kept, again, spread = (statistics.mean(each.per_s for each in loads) for loads in rounds.values())
    p99 = {name: statistics.mean(each.p99_ms for each in loads) for name, loads in rounds.items()}
    return [
        Figure(
            f"counts, {IN_REQUEST} lookups a request, rows of {WRITERS} writers, {CALLERS} callers, no cache",
            f"{rate(read, 'requests')}, p99 {p99['read']:.0f} ms",
            f"{rate(read * IN_REQUEST, 'lookups')}",
            f">= {WANTED:,}/s",
            read >= WANTED,
        ),
        Figure(
            "… closed parts kept",
            f"{rate(kept, 'requests')}, p99 {p99['kept']:.0f} ms",
            f"{kept / read:.2f} of those without a cache",
        ),
        Figure(
            f"… {STEADY} requests a second, no cache",
            f"p50 {statistics.median(steady.latencies_s) * 1000:.1f} ms, p99 {steady.p99_ms:.1f} ms",
            "",
            f"p99 < {WANTED_P99_MS} ms",
            steady.p99_ms < WANTED_P99_MS,
        ),
        Figure(
            f"… keys of {len(_OF_MANY):,} among {MANY:,} definitions, no cache",
            rate(spread, "requests"),
            f"{spread / again:.2f} of those of as many keys of {FEW}",
            f">= {LEAST_OF_FEW}",
            spread >= LEAST_OF_FEW * again,
            anywhere=True,
        ),
    ]


async def _rates_on_cassandra(desk: _Desk) -> list[Figure]:
    few = desk.requests(_OF_FEW, 1)
    await desk.keep(0)
    await load(desk.port, few, CALLERS, 2 * SECONDS)  # Java compiles what is used often
    read = await load(desk.port, few, CALLERS, SECONDS)
    await desk.keep(100)
    await load(desk.port, few, CALLERS, SECONDS / 2)
    kept = await load(desk.port, few, CALLERS, SECONDS)
    return [
        Figure(
            "counts on Cassandra, the same requests, no cache",
            f"{rate(read.per_s, 'requests')}, p99 {read.p99_ms:.0f} ms",
            f"{rate(read.per_s * IN_REQUEST, 'lookups')}",
        ),
        Figure(
            "… closed parts kept",
            f"{rate(kept.per_s, 'requests')}, p99 {kept.p99_ms:.0f} ms",
            f"{kept.per_s / read.per_s:.2f} of those without a cache",
        ),
    ]


async def _fill(store: CounterStore, weather: Source, keys: Sequence[tuple[int, int]]) -> None:
    """Rows for every slot that the lookups can need, of each writer."""
    clock = SystemClock()
    now = int(clock.now().timestamp())
    rows: list[Row] = []
    for number, city in keys:
        definition = parse_definition(_document(number), {"weather": weather}).published(1, clock.now())
        stored = definition.stored_key(_key(number, city))
        rows += [
            Row(RowKey(stored, slot, writer), Count(7, 1), until)
            for slot, until in _slots(definition, now).items()
            for writer in range(WRITERS)
        ]
        if len(rows) >= _SAVED_TOGETHER:
            await store.save(rows)
            rows.clear()
    await store.save(rows)


async def _vacuum(pool: Pool) -> None:
    async with pool.acquire() as owner:
        await owner.execute("reset role")
        await owner.execute("vacuum analyze counter_row", timeout=600)
        await owner.close()


def _slots(definition: Definition, now: int) -> dict[int, int]:
    """The slots of a month's days, of the hours of today, yesterday and a week ago, and of the quarters of the present
    hour and its neighbours, of those three days.
    """
    moments = {now - DAY_S * ago for ago in range(31)}
    for at in (now, now - DAY_S, now - 7 * DAY_S):
        moments |= {at + hour * HOUR_S for hour in range(-24, 25)}
        moments |= {at + quarter * QUARTER_S for quarter in range(-8, 9)}
    slots = {kept.slot: kept.until for at in moments for kept in slots_of(definition, at)}
    return {slot: until for slot, until in slots.items() if until > now}


def _key(number: int, city: int) -> str:
    return f"c{number}:city:{city}"


def _document(number: int) -> dict[str, Any]:
    return {"id": number, "name": f"c{number}", "template": f"c{number}:city:{{city_id}}", "on": ["rain.drop"]}
