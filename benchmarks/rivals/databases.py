"""Postgres databases that others' tables go into, beside ours on the same server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import asyncpg

from abacus.platform.settings import Settings
from benchmarks.services import empty_database

SIZE: Final = "select pg_database_size(current_database())"
_LONG_S: Final = 600.0


@asynccontextmanager
async def database_with(server: str, *scripts: str) -> AsyncIterator[str]:
    """An empty database on the server, in which the scripts have been run; it is dropped with the block."""
    async with empty_database(Settings(database_url=server)) as url:
        async with connected(url, 1) as pool:
            for script in scripts:
                await pool.execute(script, timeout=_LONG_S)
        yield url


@asynccontextmanager
async def connected(url: str, connections: int) -> AsyncIterator[Any]:
    """A pool of asyncpg's own, as anybody would open it."""
    async with asyncpg.create_pool(url, min_size=1, max_size=connections, command_timeout=_LONG_S) as pool:
        yield pool


async def size_of(url: str) -> int:
    connection = await asyncpg.connect(url)
    try:
        return int(await connection.fetchval(SIZE))
    finally:
        await connection.close()
