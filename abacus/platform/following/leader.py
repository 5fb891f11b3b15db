"""Work that one process at a time does for all: it leads while it has the lease, and the others stand by."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from abacus.platform.following.lease import lease
from abacus.platform.following.lease_share import Share
from abacus.platform.health import WorkerHealth
from abacus.platform.patience import unless_stopped, until_available
from abacus.platform.postgres import Connection, Pool, passing_failures

STANDBY_S: Final = 2.0
DRAIN_S: Final = 5.0  # a step that is cut off is done again

# Does the next of the work and returns how much that was; 0 when nothing is left for the moment. Raises `Unavailable`.
Step = Callable[[Connection], Awaitable[int]]


async def nothing_needed() -> None:
    """For work that needs only the database."""


def nothing_to_do() -> None:
    """For work without anything to do when another process leads."""


class Leader:
    """Step after step on one connection, under the lease of that name, within this process' share of leases. After a
    step that did less than `enough` it pauses for `idle_s`, so that more comes together. `prepare` checks the other
    dependencies of the work and raises `Unavailable` while one is down; `stand_by` is called each time that another
    process leads.
    """

    def __init__(
        self,
        pool: Pool,
        name: str,
        step: Step,
        health: WorkerHealth,
        *,
        idle_s: float,
        enough: int = 1,
        prepare: Callable[[], Awaitable[None]] = nothing_needed,
        stand_by: Callable[[], None] = nothing_to_do,
        share: Share | None = None,
        standby_s: float = STANDBY_S,
        drain_s: float = DRAIN_S,
    ) -> None:
        self.step = step
        self._pool = pool
        self._name = name
        self._health = health
        self._idle_s = idle_s
        self._enough = enough
        self._prepare = prepare
        self._stand_by = stand_by
        self._share = share or Share(name, 1)
        self._standby_s = standby_s
        self._drain_s = drain_s

    async def run(self, stop: asyncio.Event) -> None:
        """Runs until `stop` is set; then the present step may end, or is cut off after a while."""
        while not stop.is_set():
            leading = until_available(lambda: self._lead(stop), self._health)
            if await unless_stopped(leading, stop, grace_s=self._drain_s) is False:
                await _pause(self._standby_s, stop)

    async def _lead(self, stop: asyncio.Event) -> bool:
        """Works until told to stop, then returns True; False when another process leads, or is to lead."""
        if not self._share.take():
            self._health.ready()
            self._stand_by()
            return False
        has_place = True
        try:
            async with passing_failures(), self._pool.acquire() as connection:
                await self._prepare()
                self._health.ready()
                async with lease(connection, self._name) as is_ours:
                    leads = is_ours
                    while leads and not stop.is_set():
                        if self._share.give_up():
                            leads = has_place = False
                        elif await self.step(connection) < self._enough:
                            await _pause(self._idle_s, stop)
        finally:
            if has_place:
                self._share.give_back()
        if not leads:
            self._stand_by()
        return leads


async def _pause(seconds: float, stop: asyncio.Event) -> None:
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return
