"""Verifying in several processes reports the same, and processes that end are reported."""

import asyncio
import multiprocessing
import subprocess
import sys

import psutil
import pytest

from abacus.core.clock import SystemClock
from abacus.core.errors import Unavailable
from abacus.platform.postgres import Pool
from abacus.proof.parts import Span
from abacus.proof.processes import Helpers
from abacus.proof.store import Seals
from abacus.proof.verify import PartSize, is_worth_helping, verify
from tests.proof.reported import MEMBERS, lines
from tests.support.sealing import RECHECK, fill, tampering


@pytest.mark.long
async def test_processes_find_the_same(pool: Pool, database_url: str) -> None:
    """Verify in many small parts, a few keys each."""
    await fill(pool, *(f"m{number:03}" for number in range(60)))
    await Seals(pool, SystemClock()).make()
    async with tampering(database_url) as superuser:
        await superuser.execute("analyze")
        await superuser.execute("update transfer set points = points + 1 where member_id in ('m000', 'm031', 'm059')")
        await superuser.execute("delete from claim where key = 'txn:meals:m007-2'")
        await superuser.execute("delete from account where member_id in ('m020', 'm059')")
    alone = await verify(pool, RECHECK)
    small = PartSize(transfers=10, pages=1)
    in_parts = await verify(pool, RECHECK, part_size=small)
    told: list[tuple[int, int]] = []
    with Helpers(database_url, 2) as helpers:
        together = await verify(
            pool, RECHECK, helpers=helpers, part_size=small, progress=lambda *each: told.append(each)
        )
    assert alone == in_parts == together
    assert (alone.accounts, alone.transfers, alone.seals) == (58, 180, [1])
    some = await verify(pool, RECHECK, span=Span("m020", "m040"), part_size=small)
    assert (some.accounts, some.transfers) == (20, 63)
    assert {line.split()[0] for line in lines(some)} == {"m020", "m031"}
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (180, 180)
    assert len(told) > 15


async def test_helpers_are_for_large_ledgers(pool: Pool) -> None:
    await fill(pool, *MEMBERS)
    assert not await is_worth_helping(pool)
    assert await is_worth_helping(pool, from_pages=1)


async def test_a_helper_without_a_database_is_unavailable(pool: Pool) -> None:
    with Helpers("postgresql://nobody@127.0.0.1:1/none", 1) as helpers, pytest.raises(Unavailable, match="database"):
        await verify(pool, RECHECK, helpers=helpers)


@pytest.mark.long
async def test_a_helper_that_is_killed(pool: Pool, database_url: str) -> None:
    await fill(pool, *MEMBERS)
    with Helpers(database_url, 2) as helpers:
        assert (await verify(pool, RECHECK, helpers=helpers)).clean
        for child in multiprocessing.active_children():
            child.kill()
        with pytest.raises(Unavailable, match="one of its processes was ended"):
            await verify(pool, RECHECK, helpers=helpers)


async def test_helpers_end_with_the_one_they_help(database_url: str) -> None:
    """Even when that process is killed."""
    code = (
        "import os, signal, sys\n"
        "from abacus.proof.processes import Helpers\n"
        "if __name__ == '__main__':\n"
        f"    helpers = Helpers({database_url!r}, 1)\n"
        "    print(helpers._executor.submit(os.getpid).result(), flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ran = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", code], capture_output=True, text=True)
    helper = int(ran.stdout)
    async with asyncio.timeout(20):
        while await asyncio.to_thread(_lives, helper):  # noqa: ASYNC110  # it is another process that ends
            await asyncio.sleep(0.05)


def _lives(process: int) -> bool:
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
