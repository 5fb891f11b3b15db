"""A server that is killed amid the writers' work loses nothing that it said was saved."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from abacus.platform.migrations import migrate
from abacus.platform.postgres import open_pool
from abacus.signals.counters.store.cassandra.counters import CassandraCounterStore
from abacus.signals.counters.store.cassandra.session import Session
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.store.postgres import PostgresCounterStore
from tests.signals.counters.store.keyspaces import address, own_keyspace
from tests.signals.counters.store.mortal import PatientStore, Server, own_server
from tests.signals.counters.store.rows import NOW
from tests.signals.counters.store.torture import Torture, expected
from tests.support.fixed_clock import FixedClock


@asynccontextmanager
async def in_postgres(server: Server) -> AsyncIterator[CounterStore]:
    await migrate(server.ports.database_url)
    pool = await open_pool(server.ports.database_url, size=4)
    yield PostgresCounterStore(pool, FixedClock(NOW))
    await pool.close()


@asynccontextmanager
async def in_cassandra(server: Server) -> AsyncIterator[CounterStore]:
    async with Session(address("127.0.0.1", server.ports.cassandra)) as session, own_keyspace(session) as name:
        yield CassandraCounterStore(session, name, FixedClock(NOW))


STORES = {"postgres": in_postgres, "cassandra": in_cassandra}
KILLS = [("postgres", 3), pytest.param("cassandra", 1, marks=pytest.mark.night)]


@pytest.mark.long
@pytest.mark.services
@pytest.mark.timeout(600)  # Cassandra takes a while to start, and does it twice
@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")  # a daemon outlives its starter
@pytest.mark.skipif("ABACUS_TEST_CASSANDRA_HOSTS" not in os.environ, reason="make services ARGS=cassandra")
@pytest.mark.parametrize(("name", "kills"), KILLS)
async def test_sums_equal_a_plain_count_after_kills(name: str, kills: int) -> None:
    # Not below pytest's own folder: another run of pytest closes that one to the user Postgres runs as.
    with tempfile.TemporaryDirectory(prefix="abacus-tests-") as folder:
        async with own_server(name, Path(folder)) as server, STORES[name](server) as store:
            patient = PatientStore(store)
            restarts: list[asyncio.Task[None]] = []
            one_at_a_time = asyncio.Lock()

            async def strike(step: int) -> None:
                if step in range(10, 10 * kills + 1, 10):
                    async with one_at_a_time:
                        await asyncio.gather(*restarts)
                        await server.kill()
                        restarts.append(asyncio.create_task(server.start()))

            torture = Torture(patient, 1, strike)
            await torture.run()
            await asyncio.gather(*restarts)
            assert len(restarts) == kills
            sums = expected(torture.partitions)
            assert list(await patient.sums(list(sums))) == list(sums.values())
            assert patient.waited > 0
