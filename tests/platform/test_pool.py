"""Connections of a pool, given back however their block ends."""

import asyncio
import time
from contextlib import AsyncExitStack

import asyncpg
import pytest

from abacus.platform import pool as pools
from abacus.platform.pool import Address, LedConnection, SlicedPool
from abacus.platform.postgres import Pool


async def test_who_is_cancelled_with_a_connection_that_cannot_be_given_back_is_cancelled(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the server cuts the session just then. An error in the place of the cancellation would be taken for a
    database that is away, and the task would go on for ever.
    """
    release = pool.release

    async def cut(connection: asyncpg.Connection, **options: object) -> None:
        await release(connection, **options)
        raise asyncpg.InterfaceError("the connection is closed")

    monkeypatch.setattr(pool, "release", cut)
    with pytest.raises(asyncio.CancelledError):
        async with pool.acquire():
            raise asyncio.CancelledError
    with pytest.raises(asyncpg.InterfaceError):
        async with pool.acquire():
            pass


async def test_a_server_that_is_silent_keeps_few_waiting(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[asyncio.StreamWriter] = []
    timeout_s = 0.3

    async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tried.append(writer)

    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(await asyncio.start_server(silent, "127.0.0.1", 0))
        address = Address(*server.sockets[0].getsockname()[:2])

        async def addresses(_: asyncpg.Connection) -> dict[str, Address]:
            return {"slice_0": address}

        monkeypatch.setattr(pools, "addresses", addresses)
        pool = SlicedPool(
            database_url,
            min_size=1,
            max_size=2,
            max_queries=9,
            max_inactive_connection_lifetime=9.0,
            loop=None,
            connection_class=LedConnection,
            record_class=asyncpg.Record,
            timeout=timeout_s,
        )
        await stack.enter_async_context(pool)
        with pytest.raises(ConnectionError, match=f"{address} let nobody in: TimeoutError"):
            async with pool.acquire(schema="slice_0", near=True):
                pass
        began = time.monotonic()
        for _ in range(20):
            with pytest.raises(ConnectionError, match=f"{address} let nobody in a moment ago"):
                async with pool.acquire(schema="slice_0", near=True):
                    pass
        assert time.monotonic() - began < 20 * timeout_s / 2
        assert len(tried) == 1
        tried[0].close()
        async with pool.acquire() as connection:
            assert await connection.fetchval("select 1") == 1, "others go on"
