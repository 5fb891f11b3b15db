"""Brings codes in step with their reservations: from time to time, so also what a killed process has left."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from abacus.core.clock import Clock
from abacus.engage.offers.codes.code_uses import drop, reservations_of
from abacus.engage.offers.codes.shelf import CodeShelf
from abacus.engage.offers.decide.reservation import ReservationStatus
from abacus.engage.offers.decide.single_code import has_ended
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, arrays, columns, unnested

_MOST: Final = 1_000  # looked at together


class _Use(NamedTuple):
    """A reservation that has a code, and until when that was said."""

    reservation_id: UUID
    until: datetime


# Also of codes that are marked as used: somebody may have looked while they were rolled back.
_NOTED: Final = Statement(f"""
select {columns(_Use)} from offer_code_use where reservation_id = any(:ids::uuid[])
""")
_OVERDUE: Final = Statement(f"""
select {columns(_Use)} from offer_code_use where used_at is null and until <= :now order by until limit {_MOST}
""")
# A row that was reopened meanwhile has another `until`.
_USED: Final = Statement(f"""
update offer_code_use c set used_at = :now from {unnested(_Use)}
where c.reservation_id = u.reservation_id and c.until = u.until and c.used_at is null
""")


class CodeSweeper:
    """One for each process; any number of processes share the work."""

    def __init__(self, pool: Pool, clock: Clock, shelf: CodeShelf) -> None:
        self._pool = pool
        self._clock = clock
        self._shelf = shelf

    async def sweep(self) -> None:
        """Codes of redeemed reservations are used, codes of ended ones free. Raises `Unavailable`."""
        async with passing_failures():
            uses = [_Use(*row) for row in await self._pool.fetch(*_NOTED(ids=list(self._shelf.ended())))]
            uses += [_Use(*row) for row in await self._pool.fetch(*_OVERDUE(now=self._clock.now()))]
        if uses:
            await self._settle(uses)

    async def _settle(self, uses: Sequence[_Use]) -> None:
        found = await reservations_of(self._pool, {each.reservation_id for each in uses})
        await drop(self._pool, [id_ for id_, each in found.items() if has_ended(each)])
        used = [
            each for each in uses if (of := found.get(each.reservation_id)) and of.status == ReservationStatus.REDEEMED
        ]
        if used:
            async with passing_failures():
                await self._pool.execute(*_USED(**arrays(_Use, used), now=self._clock.now()))
