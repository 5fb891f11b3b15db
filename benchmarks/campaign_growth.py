"""A backlog of rides decided as fast as it goes: with more and more campaigns, and by two processes."""

import statistics
import sys
import time
from collections.abc import Iterable
from contextlib import AsyncExitStack
from typing import Final, NamedTuple

from abacus.platform.settings import Settings
from benchmarks import rides_load
from benchmarks.campaigns import CAMPAIGNER
from benchmarks.cpu_cost import Run
from benchmarks.deciding import Deciding, deciding
from benchmarks.offers_in_force import put_in_force, rides_source
from benchmarks.report import Figure, rate
from benchmarks.scaling import cores
from benchmarks.services import real_services, rooms
from benchmarks.workbench import Workbench, until, workbench

CAMPAIGNS: Final = (100, 1_000)  # and as many as are asked for
PROCESSES: Final = (1, 2)  # at the most campaigns
ACCOUNTS: Final = 60_000
WARM_UP: Final = 40_000
BACKLOG: Final = 40_000
BACKLOGS: Final = 3
LEAST_OF_FEW: Final = 0.5


class Step(NamedTuple):
    """So many campaigns and processes, and the backlogs that they decided, each after the one before."""

    campaigns: int
    processes: int
    runs: list[Run]

    @property
    def per_s(self) -> float:
        return statistics.median(run.per_s for run in self.runs)

    @property
    def median(self) -> Run:
        return min(self.runs, key=lambda run: abs(run.per_s - self.per_s))


async def measure(most: int) -> list[Figure]:
    steps: list[Step] = []
    async with real_services() as services:
        for campaigns in (*CAMPAIGNS, most):
            steps += await _with(services, campaigns, PROCESSES if campaigns == most else PROCESSES[:1])
    one = next(step for step in steps if step.campaigns == most)
    return list(_figures(steps, steps[0], one))


async def _with(services: Settings, campaigns: int, processes: Iterable[int]) -> list[Step]:
    """The accounts are not there: nobody posts what the rides earn."""
    async with AsyncExitStack() as stack:
        settings = await stack.enter_async_context(rooms(services, 0))
        await stack.enter_async_context(rides_source(settings, ACCOUNTS))
        await put_in_force(settings, campaigns)
        bench = await stack.enter_async_context(workbench(settings))
        rides = await stack.enter_async_context(deciding(settings, bench.pool))
        return [await _step(bench, rides, campaigns, number) for number in processes]


async def _step(bench: Workbench, rides: Deciding, campaigns: int, processes: int) -> Step:
    async with bench.workers({CAMPAIGNER: processes}):
        await _backlog(bench, rides, rides_load.arguments(f"warm-{processes}", campaigns, ACCOUNTS, most=WARM_UP))
        runs = []
        for number in range(BACKLOGS):
            mark = f"backlog-{processes}-{number}"
            given = rides_load.arguments(mark, campaigns, ACCOUNTS, most=BACKLOG)
            runs.append(await _backlog(bench, rides, given))
            print(f"  {campaigns:,} by {processes}: {runs[-1].per_s:,.0f}/s", file=sys.stderr, flush=True)
    return Step(campaigns, processes, runs)


async def _backlog(bench: Workbench, rides: Deciding, given: list[str]) -> Run:
    """Send rides as fast as it goes, and measure from the first of them until all are decided."""
    before = await rides.decided()

    async def some_decided() -> bool:
        return await rides.decided() > before

    async def all_decided() -> bool:
        return not await rides.under_way()

    async with bench.sending(given, name=rides_load.NAME, module=rides_load.MODULE) as sending:
        await until(some_decided)
        cpu, began, begun = await bench.cpu(), time.monotonic(), await rides.decided()
        await sending
        await until(all_decided)
        seconds, done, cpu_now = time.monotonic() - began, await rides.decided() - begun, await bench.cpu()
    await rides.settled()
    used = {name: cpu_now[name] - cpu.get(name, 0.0) for name in cpu_now if name != rides_load.NAME}
    return Run(done, seconds, used)


def _figures(steps: Iterable[Step], few: Step, one: Step) -> Iterable[Figure]:
    for step in steps:
        if step.processes == 1:
            share = step.per_s / few.per_s
            judged = step is one
            yield Figure(
                f"a backlog of rides decided for {step.campaigns:,} campaigns, one process",
                rate(step.per_s, "rides"),
                f"{share:.2f} of those for {few.campaigns:,}" if step is not few else "",
                f">= {LEAST_OF_FEW}" if judged else "",
                share >= LEAST_OF_FEW if judged else None,
                anywhere=True,
            )
        else:
            yield Figure(
                f"… {step.processes} processes",
                rate(step.per_s, "rides"),
                f"{step.per_s / one.per_s:.2f} of one; cores in use: {cores(step.median)}",
            )
