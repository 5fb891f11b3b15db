"""A cluster's treatment of processes: it starts them, starts them again after a crash, and asks them to end."""

import asyncio
from typing import Final

from abacus.platform.health import WorkerHealth, WorkerState
from abacus.process import STOP_WITHIN_S
from tests.reliability.simulation.life import Life
from tests.reliability.simulation.simulated import SimulatedAbacus
from tests.reliability.simulation.violation import Violated

_LOOKS_EVERY_S: Final = 12.0
_CUT_OFF_WITHIN_S: Final = 2.0


async def supervise(simulated: SimulatedAbacus, name: str, closing: asyncio.Event) -> None:
    """Keep one process running until the simulation ends."""
    chance = simulated.storm.chance
    while not closing.is_set():
        life = Life(name, simulated.storm)
        simulated.trace.note(name, "starts")
        await _live(simulated, life, closing)
        life.end()
        if not closing.is_set():
            await asyncio.sleep(chance.uniform(0.2, 20.0))


async def _live(simulated: SimulatedAbacus, life: Life, closing: asyncio.Event) -> None:
    health, stop = WorkerHealth(life.name), asyncio.Event()
    run = asyncio.ensure_future(simulated.processes[life.name](life, health)(stop))
    crashed = asyncio.ensure_future(life.crashed.wait())
    ending = asyncio.ensure_future(_time_to_end(simulated, life, health, closing))
    await asyncio.wait((run, crashed, ending), return_when=asyncio.FIRST_COMPLETED)
    if ending.done() and not crashed.done():
        simulated.trace.note(life.name, "is asked to end")
        stop.set()
        await asyncio.wait((run, crashed), timeout=STOP_WITHIN_S, return_when=asyncio.FIRST_COMPLETED)
        if not run.done() and not crashed.done():
            simulated.trace.misfortunes["cut off"] += 1
            simulated.trace.note(life.name, "is cut off")
    run.cancel()
    ended, _ = await asyncio.wait((run,), timeout=_CUT_OFF_WITHIN_S)
    ending.cancel()
    if crashed.done():
        return
    crashed.cancel()
    if not ended:
        raise Violated("shutdown", f"{life.name} still runs {STOP_WITHIN_S + _CUT_OFF_WITHIN_S:g} s after it was asked")
    if not run.cancelled() and run.exception() is not None:
        raise Violated("no surprises", f"{life.name} failed: {run.exception()!r}")
    if not stop.is_set():
        raise Violated("no surprises", f"{life.name} ended by itself")


async def _time_to_end(simulated: SimulatedAbacus, life: Life, health: WorkerHealth, closing: asyncio.Event) -> None:
    """Returns when the simulation ends, at a deployment, or when somebody sees that the worker has stopped."""
    loop = asyncio.get_running_loop()
    leaves_at = float("inf")
    if simulated.storm.strikes("stopped", life.name):
        leaves_at = loop.time() + simulated.storm.chance.uniform(1.0, 200.0)
    while loop.time() < leaves_at and health.state is not WorkerState.STOPPED:
        try:
            async with asyncio.timeout(min(_LOOKS_EVERY_S, max(0.0, leaves_at - loop.time()))):
                await closing.wait()
        except TimeoutError:
            continue
        return
    if health.state is WorkerState.STOPPED:
        simulated.trace.misfortunes["breaker"] += 1
        simulated.lift_breaker()
