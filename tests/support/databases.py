"""Migrated, empty databases for tests, each of them used again when a test left its schema as it was.

To copy hundreds of files for each test, and to delete them, took Postgres longer than all statements of most tests.
"""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import asyncpg

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

# Also what was only vacuumed: the planner would take the table for empty, and not for one that it knows nothing of.
_WRITTEN: Final = """
select string_agg(oid::regclass::text, ', ') from pg_class
where relkind = 'r' and oid >= 16384 and relname not in ('alembic_version', 'slice', 'head')
    and (pg_relation_size(oid) > 0 or reltuples >= 0)
"""

_LEFT: Final = f"select {_CHANGED} as changed, ({_WRITTEN}) as written"


async def watch(database_url: str) -> None:
    """Prepares the template of databases that are used again."""
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute(_OWN_SCHEMA)
        await let_tests_write(connection)
        await connection.execute(_WATCH)
    finally:
        await connection.close()


class Databases:
    """Copies of a template that was prepared by `watch`. Each test finds its own under a name of its own: whoever still
    uses the name of the test before finds no database, as if it had been dropped.
    """

    def __init__(self, services: Services, servers: Servers, template: str, how_to_copy: str = "") -> None:
        self._services = services
        self._servers = servers
        self._template = template
        self._how_to_copy = how_to_copy
        self._clean = list[str]()

    @asynccontextmanager
    async def one(self) -> AsyncIterator[str]:
        """The address of a database of one's own."""
        if self._clean:
            name = self._clean.pop()
        else:
            name = _new_name()
            await self._servers.administer(f"create database {name} template {self._template} {self._how_to_copy}")
        try:
            yield database_address(self._services, name)
        finally:
            await self._take_back(name)

    async def close(self) -> None:
        """Drops the databases that wait for another test."""
        while self._clean:
            await self._servers.drop(self._clean.pop())

    async def _take_back(self, name: str) -> None:
        if self._servers.are_several:  # to empty the tables on all of them takes longer than another copy
            await self._servers.drop(name)
            return
        another = _new_name()
        try:
            await self._servers.rename(name, another)
        except asyncpg.PostgresError:  # it is no longer there, or a session does not end
            await self._servers.drop(name)
            return
        if await _emptied(database_address(self._services, another)):
            self._clean.append(another)
        else:
            await self._servers.drop(another)


def _new_name() -> str:
    return f"abacus_test_{uuid.uuid4().hex[:12]}"


async def _emptied(database_url: str) -> bool:
    """Whether the database is as its template again."""
    owner = await asyncpg.connect(database_url, server_settings={"session_replication_role": "replica"})
    try:
        changed, written = await owner.fetchrow(_LEFT)
        if written and not changed:
            await owner.execute(f"truncate {written} cascade")
        return not changed
    finally:
        await owner.close()
