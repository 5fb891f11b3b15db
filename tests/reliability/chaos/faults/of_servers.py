"""A ledger in slices on several servers: one of them crashes, and slices move while they are posted to."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import count
from random import Random
from signal import SIGKILL
from typing import Final

from abacus.platform.cluster.placement import placement_at
from benchmarks.pipeline import environment
from tests.reliability.chaos.faults.fault import Fault, Struck, at_moments, in_turn
from tests.reliability.chaos.ground import ProvingGround
from tests.reliability.chaos.needs import Need
from tests.reliability.chaos.servers import servers_of
from tests.reliability.chaos.settling import messages

_SERVERS: Final = frozenset({Need.SERVERS})
_MOVED_WITHIN_S: Final = 120.0
_MEASURED_OVER_S: Final = 5.0
_GO_ON_WITHIN_S: Final = 5.0
_AT_LEAST: Final = 10.0  # a second, sent
_GO_ON_AT: Final = 0.5  # of what is sent: some messages are copies, or bad, and no transfer comes of these
_WENT_ON: Final = "others went on"


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
async def _silence(ground: ProvingGround, rng: Random) -> AsyncIterator[Struck]:
    """One server after the other. What is sent for members in slices of others, and posted there, is counted meanwhile;
    one strike at which these stand still is enough for the fault not to count.
    """
    url = ground.settings.required("database_url")
    _, *with_slices = await servers_of(url)
    servers, stood_still = in_turn(with_slices, rng), list[str]()

    async def strike(struck: Struck) -> None:
        server = next(servers)
        async with placement_at(url) as slices:
            placed = await slices.placed()
        others = [each.schema for each in placed if each.address.port != server.port]
        try:
            server.silence()
            await asyncio.sleep(_GO_ON_WITHIN_S)
            sent, posted = await _rates(ground, others)
        finally:
            server.speak()
        struck[f"server {server.port}"] += 1
        due = sent * len(others) / len(placed)
        told = f"{due:.0f}/s sent and {posted:.0f}/s posted in slices of others while {server.port} was silent"
        with (ground.logs / "silence.log").open("a", encoding="utf-8") as log:
            log.write(f"{told}\n")
        if due < _AT_LEAST:
            return  # nothing can be told from it
        if posted < _GO_ON_AT * due:
            stood_still.append(told)
        struck[_WENT_ON] += 1

    async with at_moments(strike, rng, every_s=(4, 6)) as struck:
        yield struck
    if stood_still:
        del struck[_WENT_ON]


async def _rates(ground: ProvingGround, schemas: Sequence[str]) -> tuple[float, float]:
    """Messages that were sent a second, and transfers in these slices, over some seconds."""
    begun, sent, posted = time.monotonic(), await messages(ground), await _transfers(ground, schemas)
    await asyncio.sleep(_MEASURED_OVER_S)
    took = time.monotonic() - begun
    return (await messages(ground) - sent) / took, (await _transfers(ground, schemas) - posted) / took


async def _transfers(ground: ProvingGround, schemas: Sequence[str]) -> int:
    return sum([await ground.pool.fetchval(f"select count(*) from {schema}.transfer") for schema in schemas])


@asynccontextmanager
async def _move(ground: ProvingGround, rng: Random) -> AsyncIterator[Struck]:
    """Half of the moves by copying meanwhile, half while writers wait; every third mover is killed at some moment."""
    url = ground.settings.required("database_url")
    turns = count()

    async def strike(struck: Struck) -> None:
        async with placement_at(url) as slices:
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
SERVER_SILENT: Final = Fault(
    "server-silent",
    "SIGSTOP of a server that has slices, with all its sessions, for 10 s and more; from the fifth second on others"
    " post at least half as much as is sent for them",
    _silence,
    needs=_SERVERS,
    counts=(_WENT_ON,),
    lasts=5.0,
)
SLICES_MOVE: Final = Fault(
    "slices-move",
    "slices moved from server to server while they are posted to, one after the other; every third mover is killed",
    _move,
    needs=_SERVERS,
    counts=("moved", "mover killed"),
    lasts=1.5,
)
