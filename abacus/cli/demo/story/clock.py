"""The clock of the story: it walks to the moment that it is told, until it has come to the present."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Final

from abacus.people.store.chain import chain_next
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.sql import Statement

_SCHEMA: Final = "story"
# The functions stand before Postgres's own on the path of the story's connections, and of no others.
_PATH: Final = f"public,{_SCHEMA},pg_catalog"
_NOW: Final = f"""
select least(told_at + (pg_catalog.clock_timestamp() - heard_at), pg_catalog.clock_timestamp()) from {_SCHEMA}.clock
"""
_CREATE: Final = f"""
create schema {_SCHEMA};
create table {_SCHEMA}.clock (told_at timestamptz not null, heard_at timestamptz not null);
create function {_SCHEMA}.clock_timestamp() returns timestamptz language sql as $body$ {_NOW} $body$;
create function {_SCHEMA}.now() returns timestamptz language sql stable as $body$ {_NOW} $body$;
grant usage on schema {_SCHEMA} to public;
grant select on {_SCHEMA}.clock to public;
"""
_BEGIN: Final = Statement(f"insert into {_SCHEMA}.clock values (:told_at, pg_catalog.clock_timestamp())")
_TELL: Final = Statement(f"update {_SCHEMA}.clock set told_at = :told_at, heard_at = pg_catalog.clock_timestamp()")
# A time that a crash takes away is nothing that anybody misses.
_LOSES_NOTHING: Final = {"synchronous_commit": "off"}
_DROP: Final = f"drop schema if exists {_SCHEMA} cascade"
_STOPPED: Final = Statement("select to_regnamespace(:schema) is not null")


class WalkingClock:
    """`Clock` that goes on as any clock does, and leaps to a later moment when it is told. The database of the story
    tells the same time. A clock that was told the present, or later, is the computer's own from then on.
    """

    def __init__(self, begin: datetime, database: Pool) -> None:
        self._database = database
        self._hear(begin)

    def now(self) -> datetime:
        return min(self._told_at + timedelta(seconds=time.monotonic() - self._heard_at), datetime.now(UTC))

    async def walk(self, to: datetime) -> None:
        """Stays where it is for a moment that is over. The log's entries get their places before: after the leap they
        would seem to have waited for days, and the books of a month are verified meanwhile.
        """
        async with self._database.acquire() as connection:
            while await chain_next(connection):
                pass
        self._hear(max(to, self.now()))
        await self._database.execute(*_TELL(told_at=self._told_at))

    def _hear(self, told_at: datetime) -> None:
        self._told_at, self._heard_at = told_at, time.monotonic()


@asynccontextmanager
async def walking_clock(database_url: str, begin: datetime) -> AsyncIterator[tuple[WalkingClock, str]]:
    """The clock, and the address of the database under which that tells the same time. The login owns the database."""
    owner = await open_pool(database_url, size=1, role=None, settings=_LOSES_NOTHING, keeps_nothing=True)
    try:
        await owner.execute(_DROP)
        await owner.execute(_CREATE)
        await owner.execute(*_BEGIN(told_at=begin))
        yield WalkingClock(begin, owner), _on_path(database_url)
        await owner.execute(_DROP)
    finally:
        await owner.close()


async def stopped_halfway(pool: Pool) -> bool:
    """Whether a story began here and did not come to its end: its clock is still there."""
    return bool(await pool.fetchval(*_STOPPED(schema=_SCHEMA)))


def _on_path(database_url: str) -> str:
    return f"{database_url}{'&' if '?' in database_url else '?'}search_path={_PATH}"
