"""Opens the store of counters that was chosen."""

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import NamedTuple

from abacus.core.clock import Clock
from abacus.platform.postgres import Pool
from abacus.signals.counters.store.cassandra.counters import CassandraCounterStore
from abacus.signals.counters.store.cassandra.session import Address, Session
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.store.postgres import PostgresCounterStore


class Cluster(NamedTuple):
    """A Cassandra, and the keyspace in it that has the table."""

    address: Address
    keyspace: str


class OpenedStore(NamedTuple):
    """The store, and its upkeep, which has to run beside the writers until it is cancelled or has nothing to do."""

    store: CounterStore
    tend: Callable[[], Coroutine[None, None, None]]


@asynccontextmanager
async def open_store(cluster: Cluster | None, pool: Pool, clock: Clock) -> AsyncIterator[OpenedStore]:
    """The store in this cluster, or else in Postgres. Does not wait for the cluster: requests to it raise `Unavailable`
    until it is there. Raises `Refused` when its driver is not installed.
    """
    if cluster is None:
        postgres = PostgresCounterStore(pool, clock)
        yield OpenedStore(postgres, postgres.tend)
    else:
        async with Session(cluster.address) as session:
            yield OpenedStore(CassandraCounterStore(session, cluster.keyspace, clock), _nothing_to_tend)


async def _nothing_to_tend() -> None:
    """Rows go by their time to live."""
