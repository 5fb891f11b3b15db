"""Forgets the regions of members who were not heard of for a day."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Final

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.signals.places.visit_rows import forget_visits

KEPT: Final = timedelta(hours=24)
_EVERY: Final = timedelta(minutes=10)
_AT_ONCE: Final = 5_000  # visits


class VisitSweeper:
    """Any number of processes share the work."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def sweep(self) -> int:
        """Forgets what would be a day old before the next time, in slices whose servers can be reached. Returns how
        many visits that were. Raises `Unavailable` when none can be.
        """
        before = self._clock.now() - KEPT + _EVERY

        async def forget(slice_: slices.Slice) -> int:
            forgotten = 0
            while True:
                async with slice_.at() as connection:
                    some = await forget_visits(connection, before, _AT_ONCE)
                forgotten += some
                if some < _AT_ONCE:
                    return forgotten

        return sum((await slices.everywhere(self._pool, forget, patience_s=None)).in_reach())

    async def keep_sweeping(self) -> None:
        """Runs until cancelled."""
        while True:
            with suppress(Unavailable):  # the next time
                await self.sweep()
            await asyncio.sleep(_EVERY.total_seconds())
