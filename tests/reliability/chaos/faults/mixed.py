"""Everything, a few seconds each, three at a time."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import Final

from tests.reliability.chaos.faults.fault import Fault, Struck, struck_within
from tests.reliability.chaos.ground import ProvingGround
from tests.reliability.chaos.needs import Need

_LANES: Final = 3
_EACH_S: Final = (3.0, 6.0)
_AT_LATEST_S: Final = 15.0
_MAY_MISS: Final = 3  # where another one has brought everything to a halt, there is nothing to strike


def mixed(faults: Sequence[Fault]) -> Fault:
    """The seed decides the order of the faults, and which of them meet."""

    @asynccontextmanager
    async def work(ground: ProvingGround, rng: Random) -> AsyncIterator[Struck]:
        struck: Struck = Counter()
        shuffled = rng.sample(faults, len(faults))

        async def lane(mine: Sequence[Fault], own_rng: Random) -> None:
            for fault in mine:
                struck[fault.name] += await _turn_of(fault, ground, own_rng)

        async with asyncio.TaskGroup() as group:
            for start in range(_LANES):
                group.create_task(lane(shuffled[start::_LANES], Random(rng.random())))
            yield struck

    return Fault(
        "mixed",
        "all that need no ground of their own, in an order by the seed, for 3 to 6 s each and three at a time",
        work,
        needs=frozenset({Need.PROXIES}),
        counts=tuple(name for fault in faults for name in fault.counts or (fault.name,)),
        lasts=3.0,
        may_miss=_MAY_MISS,
    )


async def _turn_of(fault: Fault, ground: ProvingGround, rng: Random) -> int:
    """How often the fault struck; 0 for a fault whose strikes the proxies or the ground count by name."""
    before = ground.struck
    async with fault.work(ground, rng) as struck:
        await asyncio.sleep(rng.uniform(*_EACH_S))
        await struck_within(lambda: not fault.missed(ground.struck - before if fault.counts else struck), _AT_LATEST_S)
    return 0 if fault.counts else struck.total()
