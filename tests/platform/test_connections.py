"""What metrics tell of a worker's connections: those that it holds, by server, and transactions in doubt."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from abacus.platform.cluster.prepared import look
from abacus.platform.connections import Connections
from abacus.platform.metrics import POOL_CONNECTIONS, POOL_IDLE, PREPARED_OLDEST, SERVERS_AWAY
from abacus.platform.pool.sliced_pool import server_of
from abacus.platform.postgres import open_pool
from abacus.platform.slices import slice_map_of, slices_of
from tests.support.dispersed import SLICES, Dispersed, dispersed
from tests.support.house import until
from tests.support.services import Services


@pytest.fixture
async def spread(services: Services) -> AsyncIterator[Dispersed]:
    async with dispersed(services, servers=2) as opened:
        yield opened


def sample(metric: object, **labels: str) -> float | None:
    found = [
        each.value
        for family in metric.collect()  # type: ignore[attr-defined]  # prometheus_client's own type says nothing
        for each in family.samples
        if labels.items() <= each.labels.items()
    ]
    return sum(found) if found else None


@pytest.mark.long
async def test_connections_are_counted_for_each_server_as_they_are_held(spread: Dispersed) -> None:
    connections = Connections("a worker of this test")
    pools = [await open_pool(spread.database_url, size=8, beside=2, noted=connections.noted) for _ in range(2)]
    owner = await asyncpg.connect(spread.database_url)
    try:
        for pool in pools:
            connections.opened(pool)
            await slice_map_of(pool)
            await asyncio.gather(*(_look_into(pool, number) for number in range(SLICES)))
            await look(pool)
        held = (
            "select count(*) from pg_stat_activity where application_name = 'abacus' and datname = current_database()"
        )
        assert sample(POOL_CONNECTIONS, worker="a worker of this test") == await owner.fetchval(held)
        assert sample(POOL_IDLE, worker="a worker of this test") == await owner.fetchval(held)
        for proxy in spread.servers:
            assert sample(POOL_CONNECTIONS, worker="a worker of this test", server=proxy.address) == 2 * 2
            assert sample(PREPARED_OLDEST, server=proxy.address) == 0
        coordinator = server_of(spread.database_url)
        assert sample(PREPARED_OLDEST, server=coordinator) == 0
        silent = next(iter(spread.servers))
        silent.silence()
        await asyncio.gather(*(look(pool) for pool in pools))
        assert sample(SERVERS_AWAY, server=silent.address) == len(pools)
        silent.speak()
        await until(lambda: _is_back(silent.address), within_s=20)
    finally:
        for pool in pools:
            pool.terminate()
        await owner.close()
    await asyncio.sleep(0)
    assert sample(POOL_CONNECTIONS, worker="a worker of this test") == 0


@pytest.mark.parametrize(
    ("address", "server"),
    [
        ("postgresql://ann:secret@db.example.com:5433/abacus", "db.example.com:5433"),
        ("postgresql://db.example.com/abacus", "db.example.com:5432"),
        ("postgresql:///abacus?host=/run/postgresql", "/run/postgresql:5432"),
    ],
)
def test_a_server_is_named_without_its_password(address: str, server: str) -> None:
    assert server_of(address) == server


async def _look_into(pool: asyncpg.Pool, number: int) -> None:
    async with (await slices_of(pool))[number].at() as connection:
        await connection.execute("select pg_sleep(0.02)")


async def _is_back(server: str) -> bool:
    return sample(SERVERS_AWAY, server=server) == 0
