"""A process that runs journeys: `python -m tests.engage.journeys.journeying_process DATABASE`."""

import asyncio
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from abacus.core.clock import SystemClock
from abacus.engage.journeys.decide.halts import NO_HALTS
from abacus.engage.journeys.decide.seat import Arrived, Leaves, Moved, Waits
from abacus.engage.journeys.heard import HeardStore
from abacus.engage.journeys.journeyer import Journeyer
from abacus.engage.journeys.mover import Mover
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import open_pool
from tests.engage.journeys.travelling import ZONE, told

JOURNEYS: Final = ("few", "herd")
LAST: Final = 5  # turns of a loop


async def turn_by_turn(journey: str, arrived: Sequence[Arrived], now: datetime) -> list[Moved]:
    """At each turn something is told, and a wait for an event comes after each that is even."""
    return [_moved(journey, each, now) for each in arrived]


def _moved(journey: str, arrived: Arrived, now: datetime) -> Moved:
    turn = arrived.turn or 0
    actions = [told(journey, arrived.seat, 3, now, turn=turn)]
    if turn == LAST:
        return Moved(arrived, (3,), actions, Leaves("end"))
    return Moved(arrived, (3, 2), actions, Waits(2, turn + 1, now, ZONE, awaits=turn % 2 == 0))


async def main(database_url: str) -> None:
    pool = await open_pool(database_url, size=4, keeps_nothing=True)
    clock, health = SystemClock(), WorkerHealth("journeyer")
    heard = HeardStore(pool)

    async def hear() -> None:
        while True:
            await heard.hear("shop.orders", {0: clock.now()})
            await asyncio.sleep(0.05)

    one = Journeyer(
        Mover(turn_by_turn, clock),
        lambda: JOURNEYS,
        heard,
        lambda: ["shop.orders"],
        pool=pool,
        clock=clock,
        halts=lambda: NO_HALTS,
        health=health,
        idle_s=0.01,
    )
    await asyncio.gather(hear(), one.run(asyncio.Event()))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
