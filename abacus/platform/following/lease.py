"""A lease: the right of one session of the database to do something alone, for as long as the session lives."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from abacus.platform.postgres import Connection
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
        if not connection.is_closed():
            await _give_back(connection, name)


async def _take(connection: Connection, name: str) -> bool:
    try:
        return bool(await connection.fetchval(*_TAKE(name=name)))
    except BaseException:
        connection.terminate()  # cut off, it may have the lease; a pool would keep the session, and the lease with it
        raise


async def _give_back(connection: Connection, name: str) -> None:
    try:
        await connection.execute(*_GIVE_BACK(name=name))
    except BaseException:
        connection.terminate()
        raise
