"""The proxy cuts connections where its faults say, and Postgres is left as they promise."""

from collections.abc import AsyncIterator, Awaitable, Callable
from urllib.parse import urlsplit

import asyncpg
import pytest

from abacus.core.clock import SystemClock
from abacus.core.errors import Unavailable
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.port import Status
from abacus.platform.postgres import Connection, open_pool
from tests.ledger.moves import adjust
from tests.reliability.chaos.proxies.postgres import PostgresFaults, PostgresProxy
from tests.support.awards import AWARD
from tests.support.cluster import Servers

ROWS = 1000
LOST = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError)


@pytest.fixture
async def proxy(database_url: str) -> AsyncIterator[PostgresProxy]:
    parts = urlsplit(database_url)
    async with PostgresProxy(parts.hostname or "", parts.port or 5432, 7) as opened:
        yield opened


@pytest.fixture
async def direct(database_url: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(database_url)
    await connection.execute("create table told (n int)")
    yield connection
    await connection.close()


async def test_without_a_fault_everything_passes(proxy: PostgresProxy, direct: Connection, database_url: str) -> None:
    large = "ü" * 3_000_000
    connection = await asyncpg.connect(proxy.through(database_url))
    try:
        async with connection.transaction():
            await connection.copy_records_to_table("told", records=[(n,) for n in range(50_000)])
            assert await connection.fetchval("select $1::text", large) == large
        with pytest.raises(asyncpg.DivisionByZeroError):
            await connection.fetchval("select 1 / $1::int", 0)
        assert len(await connection.fetch("select n from told where n < $1", 40_000)) == 40_000
    finally:
        await connection.close()
    assert await direct.fetchval("select count(*) from told") == 50_000
    assert proxy.struck == {}


async def by_a_simple_query(connection: Connection) -> None:
    async with connection.transaction():
        await connection.execute("insert into told values ($1)", 1)


async def by_a_prepared_statement(connection: Connection) -> None:
    await connection.execute("begin")
    await connection.execute("insert into told values ($1)", 1)
    commit = await connection.prepare("commit")
    await commit.fetch()


@pytest.mark.parametrize("commit", [by_a_simple_query, by_a_prepared_statement])
async def test_an_unknown_commit_is_committed(
    proxy: PostgresProxy, direct: Connection, database_url: str, commit: Callable[[Connection], Awaitable[None]]
) -> None:
    connection = await asyncpg.connect(proxy.through(database_url))
    proxy.faults = PostgresFaults(unknown_commit=1.0)
    with pytest.raises(LOST):
        await commit(connection)
    assert connection.is_closed()
    assert await direct.fetchval("select count(*) from told") == 1
    assert proxy.struck == {"unknown_commit": 1}


async def test_what_fails_at_its_commit_is_no_unknown_commit(
    proxy: PostgresProxy, direct: Connection, database_url: str
) -> None:
    await direct.execute("alter table told add constraint one unique (n) deferrable initially deferred")
    await direct.execute("insert into told values (1)")
    connection = await asyncpg.connect(proxy.through(database_url))
    proxy.faults = PostgresFaults(unknown_commit=1.0)
    with pytest.raises(LOST):
        await by_a_simple_query(connection)
    assert await direct.fetchval("select count(*) from told") == 1
    assert proxy.struck == {}


async def test_an_award_of_an_unknown_commit_is_a_duplicate_the_next_time(
    proxy: PostgresProxy, database_url: str, servers: Servers
) -> None:
    if servers.are_several:
        pytest.skip("an award goes past the proxy, to the server of the member's slice")
    through = await open_pool(proxy.through(database_url), size=1)
    try:
        proxy.faults = PostgresFaults(unknown_commit=1.0)
        with pytest.raises(Unavailable):
            await PostgresLedger(through, SystemClock()).post([AWARD])
        proxy.faults = PostgresFaults()
        [outcome] = await PostgresLedger(through, SystemClock()).post([AWARD])
        assert outcome.status is Status.DUPLICATE
    finally:
        through.terminate()


async def test_a_movement_of_an_unknown_commit_is_a_duplicate_the_next_time(
    proxy: PostgresProxy, database_url: str
) -> None:
    through = await open_pool(proxy.through(database_url), size=1)
    try:
        proxy.faults = PostgresFaults(unknown_commit=1.0)
        with pytest.raises(Unavailable):
            await PostgresMoves(through, SystemClock()).move([adjust(20)])
        proxy.faults = PostgresFaults()
        [moved] = await PostgresMoves(through, SystemClock()).move([adjust(20)])
        assert moved.status is Status.DUPLICATE
    finally:
        through.terminate()


async def test_a_query_that_is_cut_happens_whole_or_not_at_all(
    proxy: PostgresProxy, direct: Connection, database_url: str
) -> None:
    for _ in range(30):
        proxy.faults = PostgresFaults()
        connection = await asyncpg.connect(proxy.through(database_url))
        proxy.faults = PostgresFaults(cut=1.0)
        with pytest.raises(LOST):
            await connection.execute(f"insert into told select generate_series(1, {ROWS})")
        assert connection.is_closed()
    assert await direct.fetchval("select count(*) from told") % ROWS == 0
    assert proxy.struck == {"cut": 30}


async def test_all_are_cut_and_the_next_is_taken(proxy: PostgresProxy, database_url: str) -> None:
    pool = await asyncpg.create_pool(proxy.through(database_url), min_size=3, max_size=3)
    try:
        proxy.cut_all()
        assert proxy.struck == {"cut_all": 3}
        connection = await asyncpg.connect(proxy.through(database_url))
        assert await connection.fetchval("select 1") == 1
        await connection.close()
    finally:
        pool.terminate()


async def test_a_server_that_is_away_is_unavailable() -> None:
    async with PostgresProxy("127.0.0.1", 1, 7) as proxy:
        with pytest.raises(Unavailable):
            await open_pool(f"postgresql://postgres@{proxy.address}/any", size=1)
