"""kill -9 of any worker at random moments."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Final

from tests.reliability.chaos.faults.fault import Fault, Struck, at_moments
from tests.reliability.chaos.ground import ProvingGround


@asynccontextmanager
async def _kill(ground: ProvingGround, rng: Random) -> AsyncIterator[Struck]:
    async def strike(struck: Struck) -> None:
        """A worker that works: one that is still starting has nothing in its hands."""
        working = [worker for worker in ground.crew.workers if worker.ready]
        if working and (worker := rng.choice(working)).kill():
            struck[worker.name] += 1

    async with at_moments(strike, rng, every_s=(0.3, 1.5)) as struck:
        yield struck


KILL: Final = Fault("kill", "kill -9 of any worker, every 0.3 to 1.5 s; a supervisor starts it again", _kill)
