"""Shares out leases among processes: with eight leases and two processes each holds four, and all while it is alone."""

import asyncio
from collections.abc import Callable, Coroutine
from math import ceil
from typing import Final

from abacus.core.errors import Unavailable
from abacus.platform.following.lease import count_shares, share
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.slices import SliceMap

_LOOK_EVERY_S: Final = 1.0


def share_of_slices(
    name: str, pool: Pool, slice_map: SliceMap, beside: Callable[[Coroutine[None, None, None]], None]
) -> "Share":
    """The part of the leases of that name that this process may hold. There is one for each slice; where there are
    several, processes are counted `beside` the work.
    """
    share = Share(name, slice_map.slices)
    if slice_map.slices > 1:
        beside(share.keep_counting(pool))
    return share


class Share:
    """The part of the leases of that name which this process may hold."""

    def __init__(self, name: str, leases: int, *, look_every_s: float = _LOOK_EVERY_S) -> None:
        self._name = name
        self._leases = leases
        self._most = leases
        self._held = 0
        self._look_every_s = look_every_s

    def take(self) -> bool:
        """Whether this process may hold one lease more; then it does."""
        if self._held >= self._most:
            return False
        self._held += 1
        return True

    def give_back(self) -> None:
        self._held -= 1

    def give_up(self) -> bool:
        """Whether a lease has to go, because there are more processes now; then it is given back."""
        if self._held <= self._most:
            return False
        self._held -= 1
        return True

    async def keep_counting(self, pool: Pool) -> None:
        """Until cancelled: how many processes there are, and so how many leases each may hold. While the database is
        away, nobody holds any.
        """
        while True:
            try:
                async with passing_failures(), pool.acquire() as connection, share(connection, self._name):
                    while True:
                        processes = await count_shares(connection, self._name)
                        self._most = ceil(self._leases / max(1, processes))
                        await asyncio.sleep(self._look_every_s)
            except Unavailable:
                await asyncio.sleep(self._look_every_s)
