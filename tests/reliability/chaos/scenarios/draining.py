"""SIGTERM to all at once under load: each finishes the work in its hands, ends in time, and nothing is lost."""

import asyncio
import time
from random import Random
from typing import Final

from tests.reliability.chaos.ground import CREW, READY_WITHIN_S
from tests.reliability.chaos.needs import Need
from tests.reliability.chaos.scenarios.scenario import Scenario, Stage
from tests.reliability.chaos.settling import left_in

_ENDS_WITHIN_S: Final = 30.0
_AT_WORK_WITHIN_S: Final = 60.0
_OUT_OF_REACH_S: Final = 2.0


async def _play(stage: Stage, rng: Random) -> None:
    await _at_work(stage, 0)
    await _drained(stage, "SIGTERM")
    await _hired(stage)
    await _at_work(stage, 1)
    postgres = stage.ground.proxies.postgres
    await postgres.cut()
    await asyncio.sleep(_OUT_OF_REACH_S)
    await _drained(stage, "SIGTERM without Postgres")
    await postgres.mend()
    await _hired(stage)
    await stage.send(stage.third(2))


async def _hired(stage: Stage) -> None:
    for post in CREW:
        stage.ground.crew.hire(post)
    await stage.ground.crew.ready(READY_WITHIN_S)


async def _at_work(stage: Stage, third: int) -> None:
    """Returns when some of the third of the workload is posted, and most is on its way."""
    before = await stage.posted()

    async def begun() -> bool:
        return await stage.posted() > before

    await stage.send(stage.third(third))
    await stage.until("anything posted", begun, _AT_WORK_WITHIN_S)


async def _drained(stage: Stage, case: str) -> None:
    crew = stage.ground.crew
    workers = list(crew.workers)
    begun = time.monotonic()
    await asyncio.gather(*(crew.dismiss(worker) for worker in workers))
    took = time.monotonic() - begun
    stage.seen[case] += len(workers)
    stage.seen[f"s until all had ended on {case}"] = round(took)
    stage.hold(f"all end within {_ENDS_WITHIN_S:.0f} s on {case}, not {took:.1f}", if_=took <= _ENDS_WITHIN_S)
    stage.hold(f"work was left when they ended on {case}", if_=any(await left_in(stage.ground)))


DRAINING: Final = Scenario(
    "draining",
    "SIGTERM to every worker at once under load, and again while Postgres is out of reach; then others go on",
    _play,
    most=30_000,
    needs=frozenset({Need.PROXIES}),
)
