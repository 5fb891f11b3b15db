"""A database that a test used is given to another test only as empty as the first one got it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import asyncpg
import pytest

from tests.support.cluster import Servers
from tests.support.databases import Databases
from tests.support.services import Services

pytestmark = pytest.mark.once

WRITE = "insert into audit_log values (gen_random_uuid(), now(), 'ann', true, 'look', 'x', null, '{}')"


@pytest.fixture
async def databases(services: Services, servers: Servers, template: str) -> AsyncIterator[Databases]:
    """Nobody else is given any of these."""
    if servers.are_several:
        pytest.skip("on several servers no database is used again")
    opened = Databases(services, servers, template)
    yield opened
    await opened.close()


@asynccontextmanager
async def one(databases: Databases) -> AsyncIterator[asyncpg.Connection]:
    async with databases.one() as database:
        connection = await asyncpg.connect(database.address)
        try:
            yield connection
        finally:
            await connection.close()


async def which(connection: asyncpg.Connection) -> int:
    return int(await connection.fetchval("select oid from pg_database where datname = current_database()"))


async def rows(connection: asyncpg.Connection) -> int:
    return int(await connection.fetchval("select count(*) from audit_log"))


async def test_what_was_written_is_gone(databases: Databases) -> None:
    async with one(databases) as first:
        oid = await which(first)
        await first.execute(WRITE)
        assert await rows(first) == 1
    async with one(databases) as second:
        assert (await which(second), await rows(second)) == (oid, 0)
        assert await second.fetchval("select count(*) from alembic_version") == 1
        with pytest.raises(asyncpg.RestrictViolationError):
            await second.execute("truncate audit_log")


@pytest.mark.parametrize(
    "change",
    [
        "create index another on audit_log (deed)",
        "drop index audit_log_at_idx",
        "alter table audit_log disable trigger all",
        "grant delete on audit_log to abacus_app",
        "create schema another",
        "set session_replication_role = replica; alter table approval drop constraint approval_second_person_check",
        "create function another() returns int language sql as 'select 1'",
        f"{WRITE}; analyze audit_log",
        "do $$ begin execute format('alter database %I set work_mem = 64', current_database()); end $$",
    ],
)
async def test_another_schema_is_nobody_elses(databases: Databases, change: str) -> None:
    async with one(databases) as first:
        oid = await which(first)
        await first.execute(change)
    async with one(databases) as second:
        assert await which(second) != oid


async def test_a_change_that_was_rolled_back_is_none(databases: Databases) -> None:
    async with one(databases) as first:
        oid = await which(first)
        await first.execute("begin; create schema another; rollback")
    async with one(databases) as second:
        assert await which(second) == oid


async def test_who_was_left_behind_finds_no_database(databases: Databases) -> None:
    async with AsyncExitStack() as left:
        async with databases.one() as database:
            straggler = await asyncpg.connect(database.address)
            left.callback(straggler.terminate)
        with pytest.raises((asyncpg.PostgresError, OSError, asyncpg.InterfaceError)):
            await straggler.execute(WRITE)
        with pytest.raises(asyncpg.InvalidCatalogNameError):
            await asyncpg.connect(database.address)
        async with databases.one() as again:
            assert again.name != database.name
            connection = await asyncpg.connect(again.address)
            left.callback(connection.terminate)
            assert await rows(connection) == 0


async def test_two_at_once_are_two(databases: Databases) -> None:
    async with one(databases) as first, one(databases) as second:
        assert await which(first) != await which(second)
