"""Processes that let a segment in are killed amid their work: everybody comes in, once."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import pytest

from abacus.platform.postgres import Pool
from tests.engage.journeys.test_waves import regulars
from tests.support.house import until
from tests.support.paths import ROOT
from tests.support.tries import tries

MEMBERS: Final = 2_000
KILLS: Final = tries(by_day=2, by_night=4)


@asynccontextmanager
async def process(database_url: str) -> AsyncIterator[None]:
    one = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.engage.journeys.waving_process", database_url), cwd=ROOT
    )
    try:
        yield
    finally:
        one.kill()
        await one.wait()


@pytest.mark.long
async def test_killed_again_and_again(pool: Pool, database_url: str) -> None:
    """Of two at a time one leads, and the other takes over."""
    await regulars(pool, *(f"m{number}" for number in range(MEMBERS)))

    async def inside() -> int:
        return int(await pool.fetchval("select count(*) from seat"))

    for kill in range(1, KILLS + 1):

        async def are_in(least: float = MEMBERS * kill / (KILLS + 1)) -> bool:
            return await inside() >= least

        async with process(database_url), process(database_url):
            await until(are_in)

    async def is_through() -> bool:
        return bool(await pool.fetchval("select upto + 1 = $1 from journey_wave", MEMBERS))

    async with process(database_url):
        await until(is_through)
    assert await inside() == MEMBERS
    assert await pool.fetchval("select count(distinct member_id) from seat where why = 'through'") == MEMBERS
    assert await pool.fetchval("select count(*) from action") == MEMBERS
