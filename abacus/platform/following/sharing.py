"""Shares out leases among processes: with eight leases and two processes each holds four, and all while it is alone."""

import asyncio
from math import ceil
from typing import Final

from abacus.core.errors import Unavailable
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement

_LOOK_EVERY_S: Final = 1.0

# A lock that each process shares with the others, for as long as its session lives.
_JOIN: Final = Statement("select pg_advisory_lock_shared(hashtext('sharers of'), hashtext(:name))")
_LEAVE: Final = Statement("select pg_advisory_unlock_shared(hashtext('sharers of'), hashtext(:name))")
_COUNT: Final = Statement("""
select count(*) from pg_locks
where locktype = 'advisory' and mode = 'ShareLock' and granted and objsubid = 2
    and classid::bigint = hashtext('sharers of')::bigint & 4294967295
    and objid::bigint = hashtext(:name)::bigint & 4294967295
    and database = (select oid from pg_database where datname = current_database())
""")


class Share:
    """The part of the leases of that name which this process may hold."""

    def __init__(self, name: str, leases: int) -> None:
        self._name = name
        self._leases = leases
        self._most = leases
        self._held = 0

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
                async with passing_failures(), pool.acquire() as connection:
                    await connection.execute(*_JOIN(name=self._name))
                    try:
                        while True:
                            processes = await connection.fetchval(*_COUNT(name=self._name))
                            self._most = ceil(self._leases / max(1, processes))
                            await asyncio.sleep(_LOOK_EVERY_S)
                    finally:
                        await connection.execute(*_LEAVE(name=self._name))
            except Unavailable:
                await asyncio.sleep(_LOOK_EVERY_S)
