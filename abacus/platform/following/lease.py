"""A lease: the right of one session of the database to do something alone, for as long as the session lives."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from asyncpg import InterfaceError

from abacus.core.errors import Unavailable
from abacus.platform.postgres import Connection, passing_failures
from abacus.platform.sql import Statement

_TAKE: Final = Statement("select pg_try_advisory_lock(hashtext(:name))")
_GIVE_BACK: Final = Statement("select pg_advisory_unlock(hashtext(:name))")


@asynccontextmanager
async def lease(connection: Connection, name: str) -> AsyncIterator[bool]:
    """Whether this session has the lease of that name, for the length of the block. A process that dies gives it back
    with its session.
    """
    if not await _take(connection, name):
        yield False
        return
    try:
        yield True
    finally:
        await _give_back(connection, name)


async def _take(connection: Connection, name: str) -> bool:
    try:
        return bool(await connection.fetchval(*_TAKE(name=name)))
    except BaseException:
        _end(connection)  # cut off, it may have the lease; a pool would keep the session, and the lease with it
        raise


async def _give_back(connection: Connection, name: str) -> None:
    try:
        async with passing_failures():
            await connection.execute(*_GIVE_BACK(name=name))
    except Unavailable:
        _end(connection)  # with its session the lease is given back
    except BaseException:
        _end(connection)
        raise


def _end(connection: Connection) -> None:
    with suppress(InterfaceError):  # it has ended before
        connection.terminate()
