"""Everything, a few seconds each, two at a time."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import Final

from tests.chaos.faults.fault import Fault, Struck, struck_within
from tests.chaos.house import House
from tests.chaos.needs import Need

_LANES: Final = 2
_EACH_S: Final = (3.0, 6.0)
_AT_LATEST_S: Final = 30.0


def mixed(faults: Sequence[Fault]) -> Fault:
    """By the seed in which order, and which of them meet."""

    @asynccontextmanager
    async def work(house: House, rng: Random) -> AsyncIterator[Struck]:
        struck: Struck = Counter()
        shuffled = rng.sample(faults, len(faults))

        async def lane(mine: Sequence[Fault], own_rng: Random) -> None:
            for fault in mine:
                async with fault.work(house, own_rng) as of_fault:
                    await asyncio.sleep(own_rng.uniform(*_EACH_S))
                    await struck_within(lambda: bool(fault.counts or of_fault.total()), _AT_LATEST_S)  # noqa: B023  # awaited
                if not fault.counts:
                    struck[fault.name] += of_fault.total()

        async with asyncio.TaskGroup() as group:
            for start in range(_LANES):
                group.create_task(lane(shuffled[start::_LANES], Random(rng.random())))
            yield struck

    return Fault(
        "mixed",
        "all of these but the last two, in an order by the seed, for 3 to 6 s each and two at a time",
        work,
        needs=frozenset({Need.PROXIES}),
        counts=tuple(name for fault in faults for name in fault.counts or (fault.name,)),
        lasts=3.0,
    )
