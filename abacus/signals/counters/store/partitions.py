"""The partitions of a slice's `counter_row`: made before they are needed or when a row needs one, dropped when their
time is over.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

import asyncpg
import structlog

from abacus.core.clock import Clock
from abacus.core.errors import LineStopped
from abacus.platform.postgres import passing_failures
from abacus.platform.slices import Slice
from abacus.platform.sql import Statement, columns
from abacus.signals.counters.decide.partition import Partition, ahead, over, wanted

MOST: Final = 1_000

_KEEP: Final = Statement("select counter_partition_keep(:first, :next, :until, :of_slice)")

_DROP: Final = Statement("select counter_partition_drop(:first, :now, :of_slice)")

log = structlog.get_logger(__name__)


class Partitions:
    """Knows the partitions as this process last saw them. Another process may have dropped one since."""

    def __init__(self, clock: Clock, slice_: Slice, *, most: int) -> None:
        self._clock = clock
        self._slice = slice_
        self._number = None if slice_.schema is None else slice_.number
        self._most = most
        self._known: Sequence[Partition] = ()
        self._all = f"select {columns(Partition)} from {slice_.table('counter_partition')} order by first"

    async def hold(self, untils: Mapping[int, int]) -> None:
        """Returns when there is a partition for each of these slots, and none of them is dropped before the slot's
        second. Raises `LineStopped` when there would be too many partitions, `Unavailable`.
        """
        if not wanted(untils, self._known):
            return
        await self.look()
        changed = wanted(untils, self._known)
        firsts = {each.first for each in (*self._known, *changed)}
        if len(firsts) > max(self._most, len(self._known)):
            raise LineStopped(
                f"counters need {len(firsts)} partitions in Postgres, and may have {self._most}: shorten the `keep` of"
                " quarters or hours that are kept for years"
            )
        for partition in changed:
            await self._keep(partition)
        await self.look()

    async def look(self) -> None:
        """Reads which partitions there are."""
        async with self._slice.unled() as connection:
            self._known = [Partition(*row) for row in await connection.fetch(self._all)]

    async def tend(self) -> None:
        """Makes the partitions of the next day, and drops those whose time is over. Raises `Unavailable`."""
        now = int(self._clock.now().timestamp())
        await self.hold(ahead(now))
        await self.look()
        for partition in over(self._known, now):
            statement = _DROP(first=partition.first, now=now, of_slice=self._number)
            async with passing_failures():
                if await self._slice.pool.fetchval(*statement):
                    log.info("partition of counters dropped", first=partition.first, of_slice=self._number)

    async def _keep(self, partition: Partition) -> None:
        # Another process may have made one that overlaps; then the process that needs this one looks again.
        with suppress(asyncpg.DuplicateTableError, asyncpg.InvalidObjectDefinitionError):
            async with passing_failures():
                await self._slice.pool.execute(*_KEEP(**partition._asdict(), of_slice=self._number))
