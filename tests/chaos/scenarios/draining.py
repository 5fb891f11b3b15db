"""SIGTERM to all at once under load: each finishes what it has in hand, ends in time, and nothing is lost."""

import asyncio
import time
from random import Random
from typing import Final
from urllib.parse import urlsplit

from benchmarks.pipeline import environment
from tests.chaos.crew import Crew
from tests.chaos.house import CREW, READY_WITHIN_S
from tests.chaos.proxies.postgres import PostgresProxy
from tests.chaos.scenarios.scenario import Scenario, Stage
from tests.chaos.settling import left_in

_ENDS_WITHIN_S: Final = 30.0
_AT_WORK_WITHIN_S: Final = 60.0
_OUT_OF_REACH_S: Final = 2.0


async def _play(stage: Stage, rng: Random) -> None:
    house = stage.house
    await _drained(stage, house.crew, 0)
    parts = urlsplit(house.settings.required("database_url"))
    async with PostgresProxy(parts.hostname or "", parts.port or 5432, rng.randrange(1000)) as proxy:
        settings = house.settings.model_copy(update={"database_url": proxy.through(parts.geturl())})
        logs = house.logs / "out-of-reach"
        logs.mkdir()
        crew = Crew(house.nursery, environment(settings), logs)
        await _hired(crew)
        await _drained(stage, crew, 1, out_of_reach=proxy)
        stage.faults += crew.deaths
    await _hired(house.crew)
    await stage.send(stage.third(2))


async def _hired(crew: Crew) -> None:
    for post, count in CREW.items():
        for _ in range(count):
            crew.hire(post)
    await crew.ready(READY_WITHIN_S)


async def _drained(stage: Stage, crew: Crew, number: int, *, out_of_reach: PostgresProxy | None = None) -> None:
    """End all of the crew in the midst of a third of the workload."""
    before = await stage.posted()

    async def at_work() -> bool:
        return await stage.posted() > before

    await stage.send(stage.third(number))
    await stage.until("anything posted", at_work, _AT_WORK_WITHIN_S)
    if out_of_reach is not None:
        await out_of_reach.cut()
        await asyncio.sleep(_OUT_OF_REACH_S)
    workers = list(crew.workers)
    begun = time.monotonic()
    await asyncio.gather(*(crew.dismiss(worker) for worker in workers))
    took = time.monotonic() - begun
    case = "SIGTERM" if out_of_reach is None else "SIGTERM without Postgres"
    stage.seen[case] += len(workers)
    stage.seen[f"s to the last end, {case}"] = round(took)
    stage.hold(f"all end within {_ENDS_WITHIN_S:.0f} s of a {case}, not {took:.1f}", if_=took <= _ENDS_WITHIN_S)
    stage.hold("there was work left when they ended", if_=any(await left_in(stage.house)))


DRAINING: Final = Scenario(
    "draining",
    "SIGTERM to every worker at once under load, and again while Postgres is out of reach; then others go on",
    _play,
    most=30_000,
)
