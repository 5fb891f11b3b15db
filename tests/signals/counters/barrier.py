"""A barrier before a table: processes are stopped at a write that a test chooses."""

import asyncio
from contextlib import AsyncExitStack
from typing import Final, Self

import asyncpg

from tests.support.house import until

_BLOCKED: Final = """
from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0
"""


class Barrier:
    """Whoever writes the table waits, until it is let pass or the barrier is gone."""

    def __init__(self, database_url: str, table: str) -> None:
        self._database_url = database_url
        self._table = table
        self._lock: AsyncExitStack | None = None

    async def __aenter__(self) -> Self:
        self._lock = await self._locked()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.lift()

    async def lift(self) -> None:
        """Lets everybody pass from now on."""
        if self._lock is not None:
            lock, self._lock = self._lock, None
            await lock.aclose()

    async def somebody_waits(self) -> None:
        """Returns when somebody waits before the table."""
        await self._blocked(1)

    async def let_one_pass(self) -> None:
        """Whoever waits goes on to the end of its transaction, which may be that of preparing a statement; the next one
        waits again, because locks are given by the queue.
        """
        await self._blocked(1)
        again = asyncio.create_task(self._locked())
        await self._blocked(2)
        await self.lift()
        self._lock = await again

    async def end_those_who_wait(self) -> None:
        """Ends the sessions that wait: a process that was killed leaves its own behind, and it would still write."""
        async with AsyncExitStack() as stack:
            connection = await self._connected(stack)
            await connection.execute(f"select pg_terminate_backend(pid) {_BLOCKED}")
        await self._blocked(0)

    async def _blocked(self, count: int) -> None:
        async with AsyncExitStack() as stack:
            connection = await self._connected(stack)

            async def so_many() -> bool:
                return bool(await connection.fetchval(f"select count(*) {_BLOCKED}") == count)

            await until(so_many)

    async def _locked(self) -> AsyncExitStack:
        stack = AsyncExitStack()
        connection = await self._connected(stack)
        await stack.enter_async_context(connection.transaction())
        await connection.execute(f"lock table {self._table} in share mode")
        return stack

    async def _connected(self, stack: AsyncExitStack) -> asyncpg.Connection:
        connection = await asyncpg.connect(self._database_url)
        stack.push_async_callback(connection.close)
        return connection
