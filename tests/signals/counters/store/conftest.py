"""The stores of counters, each of which passes the same suite."""

from collections.abc import AsyncIterator

import pytest

from abacus.platform.postgres import Pool
from abacus.signals.counters.store.cassandra.counters import CassandraCounterStore
from abacus.signals.counters.store.cassandra.schema import KEY_TABLE, TABLE
from abacus.signals.counters.store.cassandra.session import Session
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.store.postgres import PostgresCounterStore
from tests.signals.counters.store.keyspaces import own_keyspace
from tests.signals.counters.store.rows import NOW
from tests.support.fixed_clock import FixedClock
from tests.support.memory_counters import MemoryCounterStore


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


@pytest.fixture
def postgres_store(pool: Pool, clock: FixedClock) -> PostgresCounterStore:
    return PostgresCounterStore(pool, clock)


@pytest.fixture
def memory_store(clock: FixedClock) -> MemoryCounterStore:
    return MemoryCounterStore(clock)


@pytest.fixture(scope="session")
async def keyspace(cassandra: Session) -> AsyncIterator[str]:
    """A keyspace of this run's own, with its table."""
    async with own_keyspace(cassandra) as name:
        yield name


@pytest.fixture
async def cassandra_store(cassandra: Session, keyspace: str, clock: FixedClock) -> CassandraCounterStore:
    for table in (TABLE, KEY_TABLE):
        await cassandra.run(f"truncate {keyspace}.{table}")
    return CassandraCounterStore(cassandra, keyspace, clock)


@pytest.fixture(
    params=["memory", *(pytest.param(name, marks=pytest.mark.services) for name in ("postgres", "cassandra"))]
)
def store(request: pytest.FixtureRequest) -> CounterStore:
    chosen: CounterStore = request.getfixturevalue(f"{request.param}_store")
    return chosen
