"""Migrated, empty databases for tests, each of them used again when a test left its schema as it was.

To copy hundreds of files for each test, and to delete them, took Postgres longer than all statements of most tests. So
did new sessions, which learn the catalog anew: a pool goes to the next test with its database, its sessions reset.
Rows are deleted while their table has one page, so that sessions go on with what they know of it: a table that is
truncated gets new files, and is looked up anew.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Final

import asyncpg

from abacus.platform.postgres import Pool, open_pool
from tests.support.cluster import Servers
from tests.support.services import Services, database_address
from tests.support.slices import let_tests_write

# Whatever changes the schema leaves a row, if it is committed, also in a session without triggers. Nobody's search path
# names this schema of the tests.
_OWN_SCHEMA: Final = "create schema watched_by_tests"
_WATCH: Final = """
create table watched_by_tests.change (command text not null);
create function watched_by_tests.note() returns event_trigger language plpgsql security definer as
    $$ begin insert into watched_by_tests.change values (tg_tag); end $$;
create event trigger watched_by_tests on ddl_command_end execute function watched_by_tests.note();
alter event trigger watched_by_tests enable always;
"""

# Planner statistics and settings outlive the rows, too.
_CHANGED: Final = """
exists (select from watched_by_tests.change)
    or exists (select from pg_statistic where starelid >= 16384)
    or exists (select from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase
               where d.datname = current_database())
"""

_TABLES: Final = """
from pg_class where relkind = 'r' and oid >= 16384 and relname not in ('alembic_version', 'slice', 'head', 'generation')
    and relnamespace <> 'watched_by_tests'::regnamespace
"""

# For a session without triggers.
_EMPTY: Final = f"""
do $$ begin
    execute (
        select format('create function watched_by_tests.empty() returns void language plpgsql as %L',
            'begin ' || string_agg(format('if exists (select from %1$s) then delete from %1$s; end if;', oid::regclass),
            ' ') || ' end')
        {_TABLES}
    );
end $$;
"""

# Also what was only vacuumed: the planner would take the table for empty, and not for one that it knows nothing of.
_LARGE: Final = f"""
select string_agg(oid::regclass::text, ', ') {_TABLES}
    and (pg_relation_size(oid) > 8192 or pg_relation_size(reltoastrelid) > 8192 or reltuples >= 0)
"""

_LEFT: Final = f"""
select {_CHANGED} as changed, ({_LARGE}) as large,
    exists (select from pg_stat_activity where datname = current_database() and pid <> all($1::int[])
            and pid <> pg_backend_pid() and backend_type = 'client backend') as in_use
"""

_CONNECTIONS: Final = 8
_CLOSED_WITHIN_S: Final = 30
_NO_TRIGGERS: Final = {"session_replication_role": "replica"}


async def watch(database_url: str, *, tests_write: bool = True) -> None:
    """Prepares the template of databases that are used again, and in which tests may write by hand."""
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute(_OWN_SCHEMA)
        await connection.execute(_EMPTY)
        if tests_write:
            await let_tests_write(connection)
        await connection.execute(_WATCH)
    finally:
        await connection.close()


class TestDatabase:
    """A database of one test at a time, with a pool for the application's role if a test asks for one."""

    __test__ = False

    def __init__(self, name: str, address: str) -> None:
        self.name = name
        self.address = address
        self._pool: Pool | None = None
        self._owner: asyncpg.Connection | None = None

    async def pool(self) -> Pool:
        """Connections as the application's role."""
        if self._pool is None:
            self._pool = await open_pool(self.address, size=_CONNECTIONS, keeps_nothing=True)
        return self._pool

    async def is_as_its_template(self) -> bool:
        """Whether it is, emptied, and has no sessions but its own."""
        if (own := await self._sessions_as_new()) is None:
            return False
        if self._owner is None:
            self._owner = await asyncpg.connect(self.address, server_settings=_NO_TRIGGERS)
        changed, large, in_use = await self._owner.fetchrow(_LEFT, own)
        if changed or in_use:
            return False
        if large:
            await self._owner.execute(f"truncate {large} cascade")
        await self._owner.execute("select watched_by_tests.empty()")
        return True

    async def close(self) -> None:
        """Ends its own sessions."""
        if self._owner is not None:
            await self._owner.close()
        if self._pool is not None:
            # Who waits for ever in a test that ran out of time has a connection still, and would keep the run waiting.
            await asyncio.wait_for(self._pool.close(), timeout=_CLOSED_WITHIN_S)
        self._owner = self._pool = None

    async def _sessions_as_new(self) -> list[int] | None:
        """The processes of the pool's sessions, or nothing where somebody has one of them, or closed the pool."""
        if self._pool is None:
            return []
        count = self._pool.get_idle_size()
        if self._pool.is_closing() or count < self._pool.get_size():
            return None
        async with AsyncExitStack() as held:
            sessions = [await held.enter_async_context(self._pool.acquire()) for _ in range(count)]
            for each in sessions:
                await each.reset()
            return [each.get_server_pid() for each in sessions]


class Databases:
    """Copies of a template that was prepared by `watch`. A database in which nobody is left goes to the next test as it
    is. Where somebody is, it gets another name: who still uses the name of the test before finds no database, as if it
    had been dropped.
    """

    def __init__(self, services: Services, servers: Servers, template: str, how_to_copy: str = "") -> None:
        self._services = services
        self._servers = servers
        self._template = template
        self._how_to_copy = how_to_copy
        self._clean = list[TestDatabase]()

    @asynccontextmanager
    async def one(self) -> AsyncIterator[TestDatabase]:
        """A database of one's own."""
        if self._clean:
            database = self._clean.pop()
        else:
            database = self._named(_new_name())
            copied = f"create database {database.name} template {self._template} {self._how_to_copy}"
            await self._servers.administer(copied)
        try:
            yield database
        finally:
            await self._take_back(database)

    async def close(self) -> None:
        """Drops the databases that wait for another test."""
        while self._clean:
            await self._dropped(self._clean.pop())

    async def _take_back(self, database: TestDatabase) -> None:
        if self._servers.are_several:  # to empty the tables on all of them takes longer than another copy
            await self._dropped(database)
        elif await _is_as_its_template(database):
            self._clean.append(database)
        else:
            await self._take_away(database)

    async def _take_away(self, database: TestDatabase) -> None:
        """Gives the database another name, if it is good for another test."""
        await database.close()
        another = self._named(_new_name())
        try:
            await self._servers.rename(database.name, another.name)
        except asyncpg.PostgresError:  # it is no longer there, or a session does not end
            await self._servers.drop(database.name)
            return
        if await another.is_as_its_template():
            self._clean.append(another)
        else:
            await self._dropped(another)

    async def _dropped(self, database: TestDatabase) -> None:
        await database.close()
        await self._servers.drop(database.name)

    def _named(self, name: str) -> TestDatabase:
        return TestDatabase(name, database_address(self._services, name))


async def _is_as_its_template(database: TestDatabase) -> bool:
    """Nor is it where a session ended, or the server."""
    with suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
        return await database.is_as_its_template()
    return False


def _new_name() -> str:
    return f"abacus_test_{uuid.uuid4().hex[:12]}"
