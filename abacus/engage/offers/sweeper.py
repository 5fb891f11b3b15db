"""Lets go of reservations whose time is over: from time to time, and at once where a limit is short.

Reservations that a process lets go of are locked by it, and others pass them by; when it dies they are as before.
"""

import time
from collections.abc import Sequence
from typing import Final

from abacus.core.clock import Clock
from abacus.engage.limits.pot_store import PotStore
from abacus.engage.offers.decide.outcomes import Outcome, happened
from abacus.engage.offers.reservation_rows import expire, given_back
from abacus.engage.offers.sums import add_sums
from abacus.platform import slices
from abacus.platform.postgres import Pool

_MOST: Final = 500  # in one transaction
_NOT_AGAIN_FOR_S: Final = 0.2  # for an offer whose limit is short


class ReservationSweeper:
    """One for each process; any number of processes share the work."""

    def __init__(self, pool: Pool, clock: Clock, pots: PotStore, *, slot: int) -> None:
        self._pool = pool
        self._clock = clock
        self._pots = pots
        self._slot = slot
        self._looked_at: dict[str, float] = {}

    async def sweep(self, offers: Sequence[str] | None = None) -> int:
        """Lets go of what is overdue, of these offers or of all, in slices whose servers can be reached; returns how
        many reservations that were.
        """
        split = await slices.everywhere(self._pool, lambda slice_: self._sweep(slice_, offers))
        return sum(split.in_reach())

    async def let_go(self, offers: Sequence[str]) -> int:
        """The same for offers whose limits are short, each some times a second at most."""
        now = time.monotonic()
        due = [each for each in offers if now - self._looked_at.get(each, 0.0) >= _NOT_AGAIN_FOR_S]
        if not due:
            return 0
        self._looked_at |= dict.fromkeys(due, now)
        return await self.sweep(due)

    async def _sweep(self, slice_: slices.Slice, offers: Sequence[str] | None) -> int:
        count = 0
        while True:
            async with slice_.within() as connection:
                overdue = await expire(connection, self._clock.now(), offers, _MOST)
                if overdue:
                    await self._pots.give_back(connection, given_back((each, each.amounts) for each in overdue))
                    await add_sums(connection, (happened(each, Outcome.EXPIRED) for each in overdue), self._slot)
            count += len(overdue)
            if len(overdue) < _MOST:
                return count
