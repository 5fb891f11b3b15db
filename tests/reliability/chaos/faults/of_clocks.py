"""Clocks jump about the end of the last month, each on its own, while the month's points lapse."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from random import Random
from typing import Final

from tests.reliability.chaos.faults.fault import Fault, Struck, at_moments
from tests.reliability.chaos.ground import ProvingGround, now
from tests.reliability.chaos.needs import Need
from tests.support.moved_clock import set_to

_AROUND: Final = timedelta(hours=2)  # so far before the end in the first country, and after that in the last one
_EXPIRE_AFTER: Final = 4  # jumps


@asynccontextmanager
async def _jump(ground: ProvingGround, rng: Random) -> AsyncIterator[Struck]:
    lapse = ground.lapse
    first, last = lapse.first_over - _AROUND, lapse.last_over + _AROUND
    set_to(ground.command_clock, last + timedelta(minutes=10), now())
    stands = dict.fromkeys(ground.crew.workers, lapse.first_over)

    async def strike(struck: Struck) -> None:
        worker = rng.choice(ground.crew.workers)
        goes_to = first + (last - first) * rng.random()
        over = (stands[worker] < lapse.first_over) != (goes_to < lapse.first_over)
        stands[worker] = goes_to
        set_to(worker.clock or ground.command_clock, goes_to, now())
        struck["over the month's end" if over else "near it"] += 1
        if struck.total() == _EXPIRE_AFTER:
            code, told = await ground.command("expiry", "run", "--month", str(lapse.month))
            if code:
                raise AssertionError(f"expiry run ends with {code}: {told}")
            struck["accounts found to expire"] = sum(each["found"] for each in told["runs"])

    async with at_moments(strike, rng, every_s=(0.5, 1.5)) as struck:
        yield struck
    set_to(ground.command_clock, now(), now())  # the audit asks for what was there until now


CLOCKS: Final = Fault(
    "clocks",
    "each worker's clock is wrong, and jumps about the last month's end; `abacus expiry run` of that month meanwhile",
    _jump,
    needs=frozenset({Need.WRONG_CLOCKS}),
    counts=("over the month's end", "accounts found to expire"),
)
