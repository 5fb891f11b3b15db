"""Waits for a dependency that is down, without giving up and without hammering it; and for work, until it is time to
stop.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from abacus.core.backoff import Backoff
from abacus.core.errors import Unavailable
from abacus.platform.health import WorkerHealth

Result = TypeVar("Result")

_DEFAULT: Final = Backoff(first_s=0.2, longest_s=5.0)
JITTER: Final = random.Random()


async def until_available(
    action: Callable[[], Awaitable[Result]], health: WorkerHealth, backoff: Backoff = _DEFAULT
) -> Result:
    """Calls the action, and again later while a dependency is down. Returns its result, or is cancelled."""
    attempt = 0
    while True:
        try:
            result = await action()
        except Unavailable as error:
            attempt += 1
            health.waiting(error)
            await asyncio.sleep(backoff.wait(attempt, JITTER))
        else:
            if attempt:
                health.recovered()
            return result


async def unless_stopped(work: Awaitable[Result], stop: asyncio.Event, *, grace_s: float = 0.0) -> Result | None:
    """The result of the work; None when `stop` is set and the work was cut off after the grace."""
    working = asyncio.ensure_future(work)
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
        if not working.done() and grace_s:
            await asyncio.wait((working,), timeout=grace_s)
        return working.result() if working.done() else None
    finally:
        stopping.cancel()
        if not working.done():
            working.cancel()
            await asyncio.wait((working,))
