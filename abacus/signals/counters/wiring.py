"""How counters are put together: their store, their definitions, and the answers to lookups."""

from datetime import timedelta

from abacus.platform.announcements import Announced
from abacus.platform.patience import until_available
from abacus.platform.postgres import Pool
from abacus.platform.reading.shared_cache import shared_cache
from abacus.platform.settings import Settings
from abacus.platform.wiring import Wiring
from abacus.signals.counters.directory import CounterDirectory
from abacus.signals.counters.kind import DefinitionStore
from abacus.signals.counters.reading.cache_share import PARTS_KEPT, CacheShare, CacheShareStore
from abacus.signals.counters.reading.closed_parts import ClosedParts
from abacus.signals.counters.reading.rounds import Rounds
from abacus.signals.counters.reading.service import CountService
from abacus.signals.counters.store.cassandra.session import Address
from abacus.signals.counters.store.opened_store import Cluster, OpenedStore, open_store
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.events.wiring import built_in_sources


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


def counters_in_use(wiring: Wiring, pool: Pool) -> CounterDirectory:
    counters = CounterDirectory(DefinitionStore(pool).published, built_in_sources(wiring.settings))
    return wiring.keep(counters, on=(Announced.COUNTERS, Announced.EVENT_SOURCES))


async def counting_service(
    wiring: Wiring, pool: Pool, store: CounterStore, *, at_once: int = 1, keeps_parts: bool = True
) -> CountService:
    """Answers to lookups of counters, by as many rounds at once; all of them from the store itself, unless it keeps
    closed parts. `close` it at the end.
    """
    settings, clock = wiring.settings, wiring.clock
    keeps = _cache_share(wiring, pool).keeps if keeps_parts else lambda _: False
    redis_url = settings.counts_redis_url if keeps_parts else None
    shared = shared_cache(
        redis_url,
        setting="ABACUS_COUNTS_REDIS_URL",
        prefix=settings.queue_prefix,
        health=wiring.process_health,
    )
    definitions = counters_in_use(wiring, pool)
    await until_available(definitions.refresh, wiring.health)
    parts = ClosedParts(settings.counts_cache_parts)
    rounds = Rounds(
        store,
        clock,
        within_s=settings.counts_timeout_seconds,
        parts=parts,
        keep_s=PARTS_KEPT.total_seconds(),
        shared=await wiring.entered(shared),
        at_once=at_once,
        health=wiring.process_health,
    )
    late_by = timedelta(hours=settings.counts_late_hours)
    return CountService(definitions.catalog, rounds, parts, clock, late_by_s=int(late_by.total_seconds()), keeps=keeps)


def _cache_share(wiring: Wiring, pool: Pool) -> CacheShare:
    share = CacheShare(CacheShareStore(pool, wiring.clock).all, wiring.clock)
    return wiring.keep(share, on=(Announced.COUNTER_SETTINGS,))
