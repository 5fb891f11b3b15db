"""The disk of Postgres is full for a while."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Final

from tests.reliability.chaos.faults.fault import Fault, Struck, at_moments
from tests.reliability.chaos.ground import ProvingGround
from tests.reliability.chaos.needs import Need


@asynccontextmanager
async def _fill(ground: ProvingGround, rng: Random) -> AsyncIterator[Struck]:
    disk = ground.disk

    async def strike(struck: Struck) -> None:
        before = disk.times_full()
        try:
            disk.fill()
            await asyncio.sleep(rng.uniform(4, 8))
        finally:
            await disk.free()
        struck["refused by the disk"] += disk.times_full() - before

    async with at_moments(strike, rng, every_s=(2, 5)) as struck:
        yield struck


DISK_FULL: Final = Fault(
    "disk-full", "Postgres' disk, a tmpfs, has no room for 4 to 8 s", _fill, needs=frozenset({Need.SMALL_DISK})
)
