"""Leases that processes share out among themselves."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import asyncpg

from abacus.platform.following.leader import Leader
from abacus.platform.following.lease_share import Share
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Connection, Pool, open_pool
from tests.support.soon import soon

LEASES = 8
_CUT = """
select pg_terminate_backend(pid) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid()
"""


async def as_superuser(database_url: str, statement: str) -> None:
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


class Process:
    """A process that leads as many of eight works as its share allows."""

    def __init__(self, pool: Pool) -> None:
        self.leads: set[int] = set()
        self._pool = pool
        self._share = Share("works", LEASES, look_every_s=0.05)
        self._stop = asyncio.Event()

    def _work(self, number: int) -> Leader:
        async def step(_: Connection) -> int:
            self.leads.add(number)
            return 0

        return Leader(
            self._pool,
            f"work {number}",
            step,
            WorkerHealth("relay"),
            idle_s=0.02,
            stand_by=lambda: self.leads.discard(number),
            share=self._share,
            standby_s=0.05,
        )

    async def run(self) -> None:
        counting = asyncio.create_task(self._share.keep_counting(self._pool))
        await asyncio.gather(*(self._work(number).run(self._stop) for number in range(LEASES)))
        self.leads.clear()
        counting.cancel()
        with suppress(asyncio.CancelledError):
            await counting

    def stop(self) -> None:
        self._stop.set()


@asynccontextmanager
async def process(database_url: str) -> AsyncIterator[Process]:
    pool = await open_pool(database_url, size=LEASES + 2)
    begun = Process(pool)
    running = asyncio.create_task(begun.run())
    try:
        yield begun
    finally:
        begun.stop()
        await running
        await pool.close()


async def test_processes_share_and_take_over(database_url: str) -> None:
    async with process(database_url) as first:
        await soon(lambda: len(first.leads) == LEASES)
        async with process(database_url) as second:
            await soon(lambda: (len(first.leads), len(second.leads)) == (4, 4))
            assert first.leads | second.leads == set(range(LEASES)), "each is led"
            async with process(database_url) as third:
                await soon(lambda: sorted(len(each.leads) for each in (first, second, third)) == [2, 3, 3])
            await soon(lambda: (len(first.leads), len(second.leads)) == (4, 4))
        await soon(lambda: len(first.leads) == LEASES)


async def test_sessions_that_are_cut_leave_nothing_behind(database_url: str) -> None:
    """As when a process is killed, or the database starts again: locks and leases go with their sessions."""
    async with process(database_url) as first, process(database_url) as second:
        await soon(lambda: (len(first.leads), len(second.leads)) == (4, 4))
        second.stop()
        await as_superuser(database_url, _CUT)
        await soon(lambda: not second.leads and len(first.leads) == LEASES)


def test_one_who_shares_with_nobody_leads_what_there_is() -> None:
    share = Share("works", 1)
    assert share.take()
    assert not share.take()
    assert not share.give_up()
    share.give_back()
    assert share.take()
