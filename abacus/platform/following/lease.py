"""Locks that a session of the database holds for as long as it lives: a lease, the right to do something alone, and a
share, which others hold at the same time, so that they can be counted.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from asyncpg import InterfaceError

from abacus.core.errors import Unavailable
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.sql import Statement

_TAKE: Final = Statement("select pg_try_advisory_lock(hashtext(:name))")
_GIVE_BACK: Final = Statement("select pg_advisory_unlock(hashtext(:name))")
_TAKE_SHARE: Final = Statement("select pg_try_advisory_lock_shared(hashtext('sharers of'), hashtext(:name))")
_GIVE_SHARE_BACK: Final = Statement("select pg_advisory_unlock_shared(hashtext('sharers of'), hashtext(:name))")
_COUNT_SHARES: Final = Statement("""
select count(*) from pg_locks
where locktype = 'advisory' and mode = 'ShareLock' and granted and objsubid = 2
    and classid::bigint = hashtext('sharers of')::bigint & 4294967295
    and objid::bigint = hashtext(:name)::bigint & 4294967295
    and database = (select oid from pg_database where datname = current_database())
""")


@asynccontextmanager
async def lease(connection: Connection, name: str) -> AsyncIterator[bool]:
    """Whether this session has the lease of that name, for the length of the block. A process that dies gives it back
    with its session.
    """
    async with _held(connection, _TAKE(name=name), _GIVE_BACK(name=name)) as is_ours:
        yield is_ours


@asynccontextmanager
async def beside(pool: Pool, schema: str | None, leading: Connection) -> AsyncIterator[Connection]:
    """A connection to the server of a slice, for a leader by a lease of its session at the coordinator; where the slice
    lies there, the same connection.
    """
    near = await pool.nearest(schema)
    if near is pool:
        yield leading
        return
    async with near.acquire() as connection:
        yield connection


async def still_held(connection: Connection) -> None:
    """Fails when the session is gone, and what it held with it: for work through other sessions meanwhile."""
    await connection.execute("select")


@asynccontextmanager
async def share(connection: Connection, name: str) -> AsyncIterator[None]:
    """A share of that name, which other sessions hold as well, for the length of the block."""
    async with _held(connection, _TAKE_SHARE(name=name), _GIVE_SHARE_BACK(name=name)):
        yield


async def count_shares(connection: Connection, name: str) -> int:
    """How many sessions hold one."""
    return int(await connection.fetchval(*_COUNT_SHARES(name=name)))


@asynccontextmanager
async def _held(connection: Connection, take: tuple[object, ...], give_back: tuple[object, ...]) -> AsyncIterator[bool]:
    if not await _take(connection, take):
        yield False
        return
    try:
        yield True
    finally:
        await _give_back(connection, give_back)


async def _take(connection: Connection, take: tuple[object, ...]) -> bool:
    try:
        return bool(await connection.fetchval(*take))
    except BaseException:
        _end(connection)  # cut off, it may have the lock; a pool would keep the session, and the lock with it
        raise


async def _give_back(connection: Connection, give_back: tuple[object, ...]) -> None:
    try:
        async with passing_failures():
            await connection.execute(*give_back)
    except Unavailable:
        _end(connection)  # with its session the lock is given back; why the block ended is told, and not this
    except BaseException:
        _end(connection)
        raise


def _end(connection: Connection) -> None:
    with suppress(InterfaceError):  # it has ended before
        connection.terminate()
