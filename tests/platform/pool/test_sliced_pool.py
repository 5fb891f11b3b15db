"""Connections of a pool, given back however their block ends."""

import asyncio

import asyncpg
import pytest

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
