"""Work that one worker leads while others stand by."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from abacus.core.errors import Unavailable
from abacus.platform.following.leader import Leader
from abacus.platform.health import WorkerHealth, WorkerState
from abacus.platform.postgres import Connection, Pool
from tests.support.house import until


class Work:
    """Work that counts its steps. Its dependency can be away, and a step can fail or take for ever."""

    def __init__(self) -> None:
        self.steps = 0
        self.left = 3
        self.stood_by = 0
        self.is_away = self.fails = self.hangs = False

    async def prepare(self) -> None:
        if self.is_away:
            raise Unavailable("broker", "away")

    async def step(self, _: Connection) -> int:
        if self.fails:
            raise Unavailable("broker", "gone")
        if self.hangs:
            await asyncio.Event().wait()
        self.steps += 1
        self.left = max(0, self.left - 1)
        return self.left

    def stand_by(self) -> None:
        self.stood_by += 1

    async def has_led(self) -> bool:
        return self.steps > 0

    async def has_stood_by(self) -> bool:
        return self.stood_by > 0


@asynccontextmanager
async def running(pool: Pool, work: Work, health: WorkerHealth) -> AsyncIterator[asyncio.Event]:
    stop = asyncio.Event()
    leading = Leader(
        *(pool, "a test", work.step, health),
        idle_s=0.01,
        prepare=work.prepare,
        stand_by=work.stand_by,
        standby_s=0.05,
        drain_s=0.1,
    )
    task = asyncio.create_task(leading.run(stop))
    try:
        yield stop
    finally:
        stop.set()
        await asyncio.wait_for(task, 10)


@pytest.fixture
def health() -> WorkerHealth:
    return WorkerHealth("worker")


async def test_step_after_step_also_after_nothing_was_left(pool: Pool, health: WorkerHealth) -> None:
    work = Work()

    async def more_than_were_left() -> bool:
        return work.steps > 5

    async with running(pool, work, health):
        await until(more_than_were_left)
    assert health.state is WorkerState.READY


async def test_of_two_one_stands_by_and_takes_over(pool: Pool, health: WorkerHealth) -> None:
    first, second, other = Work(), Work(), WorkerHealth("other")
    async with running(pool, second, other):
        async with running(pool, first, health) as stop:
            await until(lambda: _either(first, second))
            leads, waits = (first, second) if first.steps else (second, first)
            await until(waits.has_stood_by)
            assert (waits.steps, leads.stood_by) == (0, 0)
            assert health.state is other.state is WorkerState.READY
            stop.set()
        await until(second.has_led)


async def _either(first: Work, second: Work) -> bool:
    return bool(first.steps or second.steps)


async def test_what_it_needs_is_waited_for_before_it_leads(pool: Pool, health: WorkerHealth) -> None:
    away, there = Work(), Work()
    away.is_away = True
    async with running(pool, away, health):
        await until(lambda: _is(health, WorkerState.WAITING))
        async with running(pool, there, WorkerHealth("other")):
            await until(there.has_led)
        away.is_away = False
        await until(away.has_led)
        assert health.state is WorkerState.READY


async def test_who_fails_gives_the_lead_to_another(pool: Pool, health: WorkerHealth) -> None:
    failing, other = Work(), Work()
    failing.fails = True
    async with running(pool, failing, health):
        await until(lambda: _is(health, WorkerState.WAITING))
        async with running(pool, other, WorkerHealth("other")):
            await until(other.has_led)
    assert failing.steps == 0


async def test_a_step_that_does_not_end_is_cut_off_and_the_lead_given_back(pool: Pool, health: WorkerHealth) -> None:
    hanging, other = Work(), Work()
    hanging.hangs = True
    async with running(pool, hanging, health):
        await until(lambda: _is(health, WorkerState.READY))
    async with running(pool, other, WorkerHealth("other")):
        await until(other.has_led)


async def _is(health: WorkerHealth, state: WorkerState) -> bool:
    return health.state is state


async def test_after_less_than_enough_it_waits_for_more(pool: Pool, health: WorkerHealth) -> None:
    work, stop = Work(), asyncio.Event()
    work.left = 6
    leading = Leader(pool, "a test", work.step, health, idle_s=3600, enough=4)
    task = asyncio.create_task(leading.run(stop))
    await until(lambda: _stepped(work, 3))
    await asyncio.sleep(0.05)
    assert work.steps == 3, "5 and 4 were enough, 3 were not"
    stop.set()
    await asyncio.wait_for(task, 10)


async def _stepped(work: Work, steps: int) -> bool:
    return work.steps >= steps
