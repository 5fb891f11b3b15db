"""A lease: one session at a time has it, and whatever happens to that session it is given back."""

import asyncio

import asyncpg
import pytest

from abacus.platform.following.lease import count_shares, lease, share
from abacus.platform.postgres import Connection, Pool
from tests.support.house import until

NAME = "a test"


async def is_free(pool: Pool, name: str = NAME) -> bool:
    async with pool.acquire() as other, lease(other, name) as is_ours:
        return is_ours


async def test_one_session_has_it_and_another_may_have_it_after_that(pool: Pool) -> None:
    async with pool.acquire() as connection:
        async with lease(connection, NAME) as is_ours:
            assert is_ours
            assert not await is_free(pool)
            assert await is_free(pool, "another name")
        assert await is_free(pool)


async def test_who_does_not_get_it_takes_nothing_away(pool: Pool) -> None:
    async with pool.acquire() as connection, lease(connection, NAME):
        assert not await is_free(pool)
        assert not await is_free(pool)


async def test_it_is_given_back_when_the_work_fails(pool: Pool) -> None:
    async with pool.acquire() as connection:
        with pytest.raises(ZeroDivisionError):
            async with lease(connection, NAME):
                raise ZeroDivisionError
        assert await is_free(pool)


async def test_a_session_that_ended_has_given_it_back(pool: Pool) -> None:
    """Work that was done under the lease is not failed by that."""
    async with pool.acquire() as connection, lease(connection, NAME):
        connection.terminate()
        await until(lambda: is_free(pool))


async def test_a_session_that_was_cut_off_while_it_took_the_lease_is_not_kept(pool: Pool) -> None:
    """The session may have the lease, and nobody would give it back."""
    async with pool.acquire() as connection:

        class CutOff:
            """A connection on which the lease is taken and the answer gets lost."""

            terminate = connection.terminate

            async def fetchval(self, *statement: object) -> None:
                await connection.fetchval(*statement)
                raise asyncio.CancelledError

        with pytest.raises(asyncio.CancelledError):
            await _under_the_lease(CutOff(), "select 1")
        await until(lambda: is_free(pool))


async def test_a_session_that_cannot_give_it_back_is_ended(pool: Pool) -> None:
    async with pool.acquire() as connection:
        await connection.transaction().start()
        with pytest.raises(asyncpg.InFailedSQLTransactionError):
            await _under_the_lease(connection, "select 1 / 0")
        await until(lambda: is_free(pool))


async def _under_the_lease(connection: Connection, statement: str) -> None:
    async with lease(connection, NAME):
        await connection.execute(statement)


async def test_shares_are_held_together_and_counted(pool: Pool) -> None:
    async with pool.acquire() as first, pool.acquire() as second:
        async with share(first, NAME), share(second, NAME):
            assert await count_shares(first, NAME) == 2
            assert await count_shares(first, "another name") == 0
        assert await count_shares(first, NAME) == 0


async def test_who_is_cancelled_with_a_session_that_ended_is_cancelled(pool: Pool) -> None:
    """That the share cannot be given back must not stand in for the cancellation: who waits for it would wait for
    ever.
    """
    held = asyncio.Event()

    async def hold() -> None:
        async with pool.acquire() as connection, share(connection, NAME):
            held.set()
            try:
                await asyncio.sleep(60)
            finally:
                connection.terminate()

    holding = asyncio.create_task(hold())
    await held.wait()
    holding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await holding
