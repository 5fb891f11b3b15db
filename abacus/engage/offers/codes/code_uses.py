"""Which reservations have a code, and what has become of them: they tell it in their slices."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import Final, TypeAlias
from uuid import UUID

from abacus.core.clock import Clock
from abacus.engage.offers.decide.reservation import Reservation, ReservationStatus, slice_of_id
from abacus.engage.offers.decide.single_code import has_ended
from abacus.engage.offers.reservation_rows import of_ids
from abacus.platform import slices
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement

# Lets go of what is overdue of these offers; returns how many reservations that were.
LetGo: TypeAlias = Callable[[Sequence[str]], Awaitable[int]]

_DROP: Final = Statement("""
with gone as (
    select digest, pool from offer_code_use where reservation_id = any(:ids::uuid[]) order by digest, pool for update
) delete from offer_code_use u using gone where u.digest = gone.digest and u.pool = gone.pool
    and u.reservation_id = any(:ids::uuid[])
""")

_REOPEN: Final = Statement("""
update offer_code_use set used_at = null, until = :until where reservation_id = :id
""")
_ROLLED_BACK_WITHIN: Final = timedelta(minutes=1)


async def reopen(pool: Pool, reservation_id: UUID, now: datetime) -> None:
    """Before something of the redemption is rolled back. Whether the code is used is seen when that is done: at once
    where its end is noted, else some time later. Raises `Unavailable`.
    """
    async with passing_failures():
        await pool.execute(*_REOPEN(id=reservation_id, until=now + _ROLLED_BACK_WITHIN))


async def drop(pool: Pool, ids: Collection[UUID]) -> None:
    """These reservations have no code any more. Raises `Unavailable`."""
    if ids:
        async with passing_failures():
            await pool.execute(*_DROP(ids=list(ids)))


async def reservations_of(pool: Pool, ids: Iterable[UUID]) -> Mapping[UUID, Reservation]:
    """Raises `Unavailable` where a slice cannot be read."""
    parts: dict[int, list[UUID]] = {}
    for id_ in ids:
        parts.setdefault(slice_of_id(id_), []).append(id_)

    async def read(slice_: slices.Slice, some: Sequence[UUID]) -> Sequence[Reservation]:
        async with slice_.at() as connection:
            return await of_ids(connection, some)

    split = await slices.in_slices(pool, parts, read)
    return {each.reservation_id: each for each in chain.from_iterable(split.whole())}


class Holders:
    """Tells of reservations that have codes whether they have ended."""

    def __init__(self, pool: Pool, clock: Clock, let_go: LetGo) -> None:
        self._pool = pool
        self._clock = clock
        self._let_go = let_go

    async def ended(self, ids: Collection[UUID]) -> Collection[UUID]:
        """The reservations that have ended. Overdue ones are let go of first: nobody redeems them afterwards. Raises
        `Unavailable`.
        """
        if not ids:
            return ()
        found, now = await reservations_of(self._pool, set(ids)), self._clock.now()
        overdue = {each.offer for each in found.values() if each.status == ReservationStatus.HELD and each.until <= now}
        if overdue:
            await self._let_go(sorted(overdue))
            found = await reservations_of(self._pool, found)
        return {id_ for id_, each in found.items() if has_ended(each)}
