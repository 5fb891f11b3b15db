"""How counters are put together: their store, their definitions, and the answers to lookups."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Final

from abacus.core.clock import SystemClock
from abacus.documents.directory import DocumentDirectory
from abacus.platform.following.together import together
from abacus.platform.following.topics import FollowedTopics
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.topic_id import TopicIds
from abacus.platform.patience import until_available
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool
from abacus.platform.quarantine.counted import CountedQuarantine
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.reading.caches import Caches
from abacus.platform.reading.shared_cache import shared_cache
from abacus.platform.settings import Settings
from abacus.platform.wiring import Run, Wiring
from abacus.signals.counters.counter import EventCounter
from abacus.signals.counters.counter_desk import CounterDesk
from abacus.signals.counters.decide.batch import EventMemory
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.topics import asked_by_counters
from abacus.signals.counters.kind import Documents, counter_directory
from abacus.signals.counters.new_keys import NewKeysBook
from abacus.signals.counters.open_rows import OpenRows
from abacus.signals.counters.partitions import OpenPartitions
from abacus.signals.counters.reading.cache_share import keeps_in
from abacus.signals.counters.reading.closed_parts import closed_parts
from abacus.signals.counters.reading.room_sums import NO_SUMS, HouseSums
from abacus.signals.counters.reading.rounds import Rounds
from abacus.signals.counters.reading.series_service import SeriesService
from abacus.signals.counters.reading.service import CountService
from abacus.signals.counters.reading.types import Counted, Lookup
from abacus.signals.counters.series import SeriesBook
from abacus.signals.counters.store.cassandra.session import Address
from abacus.signals.counters.store.opened_store import Cluster, OpenedStore, open_store
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.store.postgres import PostgresCounterStore
from abacus.signals.counters.topic import KafkaTopic
from abacus.signals.counters.writer import CounterWriter
from abacus.signals.events.decide.substream import Asked
from abacus.signals.events.wiring import built_in_sources
from abacus.signals.places.locating import locate_in_use

_CONNECTIONS: Final = 4
_CHART_WITHIN_S: Final = 5.0
_MOST_RECORDS: Final = 20_000
_GATHER_S: Final = 0.2  # a row that many events add to is saved once for all of them


def cassandra_of(settings: Settings) -> Cluster | None:
    """Where the rows of counters are; None for Postgres. Raises `Refused` when the address is missing."""
    if settings.counter_store != "cassandra":
        return None
    hosts = [host.strip() for host in settings.required("cassandra_hosts").split(",")]
    address = Address(
        hosts,
        settings.cassandra_port,
        settings.cassandra_datacenter,
        settings.cassandra_user,
        settings.cassandra_password,
    )
    return Cluster(address, settings.cassandra_keyspace)


async def counter_store(wiring: Wiring, pool: Pool) -> OpenedStore:
    """The store of counters that the settings name. The pool best has the settings `LOOKUPS_BY_KEY`."""
    return await wiring.entered(open_store(cassandra_of(wiring.settings), pool, wiring.clock))


def counters_in_use(wiring: Wiring, pool: Pool) -> DocumentDirectory[Catalog]:
    counters = counter_directory(pool, built_in_sources(wiring.settings))
    return wiring.keep(counters, on=counters.tables)


def asked_by(wiring: Wiring, pool: Pool) -> Callable[[], Asked]:
    """The events that counters ask for."""
    counters = counters_in_use(wiring, pool)
    return lambda: asked_by_counters(counters.value())


async def counting_service(
    wiring: Wiring, pool: Pool, store: CounterStore, *, at_once: int = 1, keeps_parts: bool = True
) -> CountService:
    """Answers to lookups of counters, by as many rounds at once; all of them from the store itself, unless it keeps
    closed parts. `close` it at the end.
    """
    settings, clock = wiring.settings, wiring.clock
    definitions = counters_in_use(wiring, pool)
    await until_available(definitions.refresh, wiring.health)
    caches = await wiring.caches(pool) if keeps_parts else Caches(clock)
    shared = shared_cache(
        settings.counts_redis_url if keeps_parts else None,
        setting="ABACUS_COUNTS_REDIS_URL",
        prefix=settings.queue_prefix,
        health=wiring.process_health,
    )
    parts = caches.of_parts(closed_parts(settings.counts_cache_parts), shared=await wiring.entered(shared))
    rounds = Rounds(
        store,
        within_s=settings.counts_timeout_seconds,
        parts=parts,
        at_once=at_once,
        health=wiring.process_health,
    )
    late_by = timedelta(hours=settings.counts_late_hours)
    return CountService(
        definitions.value,
        rounds,
        parts,
        clock,
        late_by_s=int(late_by.total_seconds()),
        keeps=keeps_in(caches, parts, clock),
    )


async def chart_service(
    wiring: Wiring, counting: CountService, store: CounterStore, sums: Callable[[Pool], HouseSums]
) -> SeriesService:
    """Answers with series and keys, by the definitions of the lookups. In Postgres charts have a connection of their
    own, so that no lookup waits for them.
    """
    pool = await wiring.pool(size=1, within_s=_CHART_WITHIN_S, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    if cassandra_of(wiring.settings) is None:
        store = PostgresCounterStore(pool, wiring.clock)
    return SeriesService(counting.catalog, store, wiring.clock, sums=sums(pool), within_s=_CHART_WITHIN_S)


async def counts_now(lookups: Sequence[Lookup], pool: Pool, settings: Settings, now: datetime) -> Sequence[Counted]:
    """The counts, read from the store. Raises `Refused` for what cannot be counted, and `Unavailable`."""
    async with reading_desk(pool, settings) as desk:
        return await desk.count(lookups, now)


@asynccontextmanager
async def reading_desk(pool: Pool, settings: Settings, sums: HouseSums = NO_SUMS) -> AsyncIterator[CounterDesk]:
    """The desk on the store that the settings name, for a command."""
    clock = SystemClock()
    async with open_store(cassandra_of(settings), pool, clock) as (store, _):
        yield CounterDesk(pool, clock, built_in_sources(settings), store, sums)


async def counter(wiring: Wiring) -> Run:
    settings, clock = wiring.settings, wiring.clock
    bootstrap = settings.required("kafka_bootstrap")
    pool = await wiring.pool(size=_CONNECTIONS, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    locate = await locate_in_use(wiring, pool)
    documents = Documents(counters_in_use(wiring, pool).value, settings.events_topic, locate)
    store = await counter_store(wiring, pool)
    wiring.beside(store.tend())
    counting = EventCounter(
        store.store,
        OpenRows(settings.counter_open_rows),
        CountedQuarantine(QuarantineStore(pool, clock)),
        EventMemory(timedelta(hours=settings.counter_repeat_hours)),
        clock,
        new_keys=NewKeysBook(pool, clock),
    )
    ids = TopicIds(bootstrap)
    wiring.at_the_end(ids.close)

    def follow(name: str, health: WorkerHealth) -> Run:
        topic = KafkaTopic(bootstrap, name, ids)
        writer = CounterWriter(topic, documents, OpenPartitions(topic, SeriesBook(pool, clock)), counting, health)
        read = wiring.following(
            name,
            f"counter-{name}",
            writer.handle,
            health,
            max_records=_MOST_RECORDS,
            gather_s=_GATHER_S,
            places=writer,
        )
        return together(read, writer.adopt)

    return FollowedTopics(documents.topics, follow, wiring.health).run
