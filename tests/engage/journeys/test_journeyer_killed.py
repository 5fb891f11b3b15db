"""Processes that run journeys are killed amid their work: each effect is there once, and everybody comes to the end."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from abacus.core.clock import SystemClock
from abacus.engage.journeys.mover import Mover
from abacus.platform.postgres import Pool
from tests.engage.journeys.journeying_process import JOURNEYS, LAST, turn_by_turn
from tests.engage.journeys.travelling import come_in, entry, waiting
from tests.support.house import until
from tests.support.paths import ROOT
from tests.support.tries import tries

MEMBERS = {"herd": 3_000, "few": 10}
KILLS = tries(by_day=3, by_night=6)


@asynccontextmanager
async def process(database_url: str) -> AsyncIterator[asyncio.subprocess.Process]:
    one = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.engage.journeys.journeying_process", database_url), cwd=ROOT
    )
    try:
        yield one
    finally:
        if one.returncode is None:
            one.kill()
        await one.wait()


@pytest.mark.long
async def test_killed_again_and_again(pool: Pool, database_url: str) -> None:
    """Two at a time, at another place each time."""
    moving = Mover(turn_by_turn, SystemClock())
    for journey in JOURNEYS:
        await come_in(pool, moving, [entry(number, journey) for number in range(MEMBERS[journey])])
    everybody = sum(MEMBERS.values())

    async def told() -> int:
        return int(await pool.fetchval("select count(*) from action"))

    for kill in range(1, KILLS + 1):
        least = everybody * (1 + LAST * kill / (KILLS + 1))

        async def so_many(least: float = least) -> bool:
            return await told() >= least

        async with process(database_url), process(database_url):
            await until(so_many)

    async def ended() -> bool:
        return await waiting(pool) == 0

    async with process(database_url), process(database_url):
        await until(ended)
    rows = await pool.fetch(
        "select split_part(key, ':', 2), split_part(key, ':', 5), count(*), count(distinct key) from action"
        " group by 1, 2"
    )
    nodes = ["3", *(f"3.{turn}" for turn in range(1, LAST + 1))]
    expected = {(journey, node): (members, members) for journey, members in MEMBERS.items() for node in nodes}
    assert {(journey, node): (count, keys) for journey, node, count, keys in rows} == expected
    assert await pool.fetchval("select count(*) from seat where why = 'end'") == everybody
    trail = "select sum(cardinality(members)) from journey_trail where why is not null"
    assert await pool.fetchval(trail) == everybody
