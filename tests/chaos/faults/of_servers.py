"""A ledger in slices on several servers: one of them crashes, and slices move while they are posted to."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from random import Random
from signal import SIGKILL
from typing import Final

from abacus.platform.spreading import spreading
from benchmarks.pipeline import environment
from tests.chaos.faults.fault import Fault, Struck, at_moments, in_turn
from tests.chaos.ground import ProvingGround
from tests.chaos.needs import Need
from tests.chaos.servers import servers_of

_SERVERS: Final = frozenset({Need.SERVERS})
_MOVED_WITHIN_S: Final = 120.0


@asynccontextmanager
async def _crash(ground: ProvingGround, rng: Random) -> AsyncIterator[Struck]:
    servers = in_turn(await servers_of(ground.settings.required("database_url")), rng)

    async def strike(struck: Struck) -> None:
        server = next(servers)
        await server.crash()
        await asyncio.sleep(rng.uniform(0.5, 4))
        await server.start()
        struck[f"server {server.port}"] += 1

    async with at_moments(strike, rng, every_s=(3, 6)) as struck:
        yield struck


@asynccontextmanager
async def _move(ground: ProvingGround, rng: Random) -> AsyncIterator[Struck]:
    """Half of the moves by copying meanwhile, half while writers wait; every third mover is killed at some moment."""
    url = ground.settings.required("database_url")
    turns = count()

    async def strike(struck: Struck) -> None:
        async with spreading(url) as slices:
            placed, servers = await slices.placed(), await slices.servers()
        one = rng.choice(placed)
        target = rng.choice([each for each in servers if each != one.address])
        turn = next(turns)
        manner = ["--blocking"] if turn % 2 else []
        mover = await ground.nursery.born(
            ["slices", "move", one.schema, str(target), *manner],
            environment(ground.settings),
            log=ground.logs / f"move-{turn}.log",
        )
        if turn % 3 == 2:
            await asyncio.wait([mover.ended], timeout=rng.uniform(0.5, 3))
            struck["mover killed"] += mover.send(SIGKILL)
            return
        code = await asyncio.wait_for(mover.ended, _MOVED_WITHIN_S)
        struck["moved" if not code else "not moved"] += 1  # while Citus clears up after one that was killed

    async with at_moments(strike, rng, every_s=(0.2, 1)) as struck:
        yield struck


SERVER_CRASHES: Final = Fault(
    "server-crashes",
    "kill -9 of a server that has slices, or of the coordinator, every 3 to 6 s; it is away for 0.5 to 4 s",
    _crash,
    needs=_SERVERS,
    lasts=1.5,
)
SLICES_MOVE: Final = Fault(
    "slices-move",
    "slices moved from server to server while they are posted to, one after the other; every third mover is killed",
    _move,
    needs=_SERVERS,
    counts=("moved", "mover killed"),
    lasts=1.5,
)
