"""Processes whose callers want the same codes are killed amid their work: no code is used twice, and none is lost."""

import asyncio
import sys

import pytest

from abacus.core.clock import SystemClock
from abacus.platform.postgres import Pool
from tests.engage.offers.code_process import CODES, OFFER
from tests.engage.offers.coded import coded, counted, load
from tests.support.paths import ROOT


async def _run(database_url: str, seed: int, *, kill_after: int | None = None) -> dict[str, str]:
    """What a process says of its requests, until it is killed after so many."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.engage.offers.code_process", database_url, str(seed)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    said: dict[str, str] = {}
    async for line in process.stdout:
        request, _, what = line.decode().strip().partition(" ")
        said[request] = what
        if kill_after is not None and len(said) >= kill_after and process.returncode is None:
            process.kill()
    code = await process.wait()
    assert kill_after is not None or code == 0
    return said


@pytest.mark.long
async def test_killed_again_and_again(pool: Pool, database_url: str) -> None:
    """Two processes at a time, each with 32 callers, want every code; at the end they go through all of it."""
    await load(pool, CODES, OFFER.name)
    said: dict[str, str] = {}
    for kills in ((60, 150), (220, 90)):
        for each in await asyncio.gather(*(_run(database_url, kill, kill_after=kill) for kill in kills)):
            said |= {request: what for request, what in each.items() if what == "redeemed"}
    for each in await asyncio.gather(*(_run(database_url, seed) for seed in (1, 2))):
        said |= {request: what for request, what in each.items() if what == "redeemed"}
    by_code = coded(pool, SystemClock(), OFFER)
    await by_code.sweeper.sweep()
    rows = await pool.fetch("""
        select r.status, u.digest, u.used_at is not null as used from offer_reservation r
        full join offer_code_use u on u.reservation_id = r.reservation_id
    """)
    redeemed = [row for row in rows if row["status"] == "redeemed"]
    assert len({row["digest"] for row in redeemed}) == len(redeemed), "a code is used once"
    assert None not in {row["digest"] for row in redeemed}
    assert {row["status"] for row in rows if row["digest"] is not None} <= {"redeemed", "held"}
    assert len(said) <= len(redeemed)
    loaded, used, held, free = await counted(pool, OFFER.name)
    assert (loaded, used + held + free) == (len(CODES), len(CODES))
    assert used == len(redeemed)
    assert held + free <= len(CODES) // 10, "nearly every code found somebody who redeems it"
