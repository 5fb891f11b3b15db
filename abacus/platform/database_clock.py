"""The one time of a deployment: the database's, told by the computer's clock and by how much that is behind."""

import asyncio
from datetime import datetime, timedelta
from typing import Final

import structlog

from abacus.core.clock import Clock, SystemClock
from abacus.core.errors import Unavailable
from abacus.platform.metrics import CLOCK_BEHIND
from abacus.platform.postgres import Pool, passing_failures

_IN_STEP: Final = timedelta(seconds=1)  # clocks that are kept in step differ by less, and are left as they are
_COMPARE_EVERY_S: Final = 60.0
_NONE: Final = timedelta(0)

log = structlog.get_logger(__name__)


class DatabaseClock:
    """`Clock` for decisions: when something was approved, is over or is in force does not go by the computer that
    happens to decide it. Until it was compared it tells the computer's time.
    """

    def __init__(self, own: Clock | None = None) -> None:
        self._own = own or SystemClock()
        self._behind = _NONE

    def now(self) -> datetime:
        return self._own.now() + self._behind

    async def compare(self, pool: Pool) -> None:
        """Asks the database for its time. Raises `Unavailable`, and tells the time as before then."""
        async with passing_failures(), pool.acquire() as connection:
            asked_at = self._own.now()
            there = await connection.fetchval("select clock_timestamp()")
            answered_at = self._own.now()
        way = (answered_at - asked_at) / 2
        behind = there - (asked_at + way)
        self._behind = behind if abs(behind) > _IN_STEP + way else _NONE
        CLOCK_BEHIND.set(self._behind.total_seconds())
        if self._behind:
            log.warning("the clock of this computer is wrong; the database's counts", behind_s=behind.total_seconds())

    async def keep_compared(self, pool: Pool) -> None:
        """From time to time, for ever."""
        while True:
            await asyncio.sleep(_COMPARE_EVERY_S)
            try:
                await self.compare(pool)
            except Unavailable:
                continue  # the pool's owner says so


async def clock_of(pool: Pool, own: Clock | None = None) -> DatabaseClock:
    """A clock that was compared. Raises `Unavailable`."""
    clock = DatabaseClock(own)
    await clock.compare(pool)
    return clock
