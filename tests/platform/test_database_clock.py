"""Decisions go by the database's time, also where the clock of a computer is wrong."""

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest

from abacus.bootstrap import announcements_of
from abacus.cli.terminal.command_actor import acting
from abacus.platform.database_clock import DatabaseClock, clock_of
from abacus.platform.health import Health
from abacus.platform.postgres import Pool
from abacus.platform.wiring import Wiring
from tests.support.house import House
from tests.support.wrong_clock import Wrong, is_right


@pytest.mark.parametrize("behind", [timedelta(days=12), timedelta(hours=-2), timedelta(minutes=1)])
async def test_a_wrong_clock_is_corrected(pool: Pool, behind: timedelta) -> None:
    clock = DatabaseClock(Wrong(behind))
    assert not is_right(clock.now())
    await clock.compare(pool)
    assert is_right(clock.now())


async def test_a_clock_in_step_is_left_as_it_is(pool: Pool) -> None:
    own = Wrong(timedelta(milliseconds=300))
    clock = await clock_of(pool, own)
    before = own.now()
    assert before <= clock.now() <= own.now()


async def test_commands_act_by_it(pool: Pool) -> None:
    at = await acting(pool, Wrong(timedelta(days=12)))
    assert is_right(at.clock.now())


async def test_workers_decide_by_it(house: House) -> None:
    """From the time on that they reach the database."""
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        announcements = announcements_of(house.settings)
        wiring = Wiring(house.settings, stack, group, health=Health(["api"]), name="api", announcements=announcements)
        wiring.clock = DatabaseClock(Wrong(timedelta(days=12)))
        await wiring.pool(size=1)
        assert is_right(wiring.clock.now())
        await stack.aclose()
