"""Offers whose budget is gone, over their whole life or today: they are shown nowhere within a second.

A process looks at the pots that it has touched, and marks empty ones by a row; every process reads the rows.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.engage.limits.decide.pots import EVER, Limited, Pot, limited_by
from abacus.engage.limits.pot_store import DoneBefore, Locked, PotStore
from abacus.engage.limits.types import Amounts
from abacus.engage.offers.decide.offer import OWNER_KIND
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.platform import slices
from abacus.platform.fresh_copy import FreshCopy
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.sql import Statement, arrays, columns, unnested

TABLE: Final = "offer_spent"  # whose changes are read
_LOOK_EVERY_S: Final = 0.3
_LOOK_AT_ALL_EVERY_S: Final = 30.0
_OLDEST: Final = timedelta(days=2)  # a day ends later elsewhere


class Mark(NamedTuple):
    """A pot of an offer that is empty: over the whole life of the offer, or on a day of its zone."""

    offer: str
    period: str


_MARK: Final = Statement(f"""
insert into offer_spent ({columns(Mark)}) select u.* from {unnested(Mark)} order by u.offer, u.period
on conflict do nothing
""")
_UNMARK: Final = Statement(f"""
delete from offer_spent s using {unnested(Mark)} where s.offer = u.offer and s.period = u.period
""")
_MARKS: Final = Statement(f"select {columns(Mark)} from offer_spent where period = '{EVER}' or period >= :oldest")


async def read_marks(pool: Pool, now: datetime) -> frozenset[Mark]:
    """Of whole lives, and of these last days. Raises `Unavailable`."""
    oldest = (now - _OLDEST).date().isoformat()
    async with passing_failures():
        return frozenset(Mark(*row) for row in await pool.fetch(*_MARKS(oldest=oldest)))


def leave_out(marks: Collection[Mark], index: OfferIndex, now: datetime) -> None:
    """The index leaves out offers from now on whose pot of this moment is marked."""
    named = [(mark, armed.offer) for mark in marks if (armed := index.named(mark.offer)) is not None]
    index.spent = {offer.number for mark, offer in named if Pot(*offer.owner, mark.period) in limited_by(offer, now)}


class WatchedPots(PotStore):
    """The pots of offers, with those from which was taken, or to which was given, since somebody looked."""

    def __init__(self, pool: Pool, slot: int, done_before: DoneBefore, *, remembers_s: float) -> None:
        super().__init__(pool, slot, done_before, remembers_s=remembers_s)
        self._touched: set[Pot] = set()

    def touched(self) -> set[Pot]:
        """They are told once."""
        touched, self._touched = self._touched, set()
        return touched

    async def fill(
        self, slice_: slices.Slice, needs: Mapping[Pot, Amounts], limited: Mapping[Pot, Limited]
    ) -> set[Pot]:
        short = await super().fill(slice_, needs, limited)
        self._touched |= short
        return short

    async def take(self, connection: Connection, locked: Locked, taken: Mapping[Pot, Amounts]) -> None:
        await super().take(connection, locked, taken)
        self._touched |= taken.keys()

    async def give_back(self, connection: Connection, given: Mapping[Pot, Amounts]) -> None:
        await super().give_back(connection, given)
        self._touched |= given.keys()


class SpentOffers(FreshCopy[frozenset[Mark], frozenset[Mark]]):
    """The marks, as each process keeps them. The index leaves out offers whose pot is empty at the moment."""

    def __init__(self, pool: Pool, index: Callable[[], OfferIndex], clock: Clock) -> None:
        async def load(_: frozenset[Mark] | None) -> frozenset[Mark]:
            marks = await read_marks(pool, clock.now())
            leave_out(marks, index(), clock.now())
            return marks

        super().__init__("spent offers", load, lambda marks: marks)


class SpentWatch:
    """Looks at the pots that this process has touched."""

    def __init__(
        self,
        pool: Pool,
        pots: WatchedPots,
        spent: SpentOffers,
        *,
        index: Callable[[], OfferIndex],
        clock: Clock,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._monotonic = monotonic
        self._pool = pool
        self._pots = pots
        self._spent = spent
        self._index = index
        self._clock = clock

    async def keep_looking(self) -> None:
        """Runs until cancelled."""
        looked_at, touched = float("-inf"), set[Pot]()
        while True:
            touched |= self._pots.touched()
            try:
                if self._monotonic() - looked_at > _LOOK_AT_ALL_EVERY_S:  # a new version may have a higher limit
                    touched |= self.marked()
                    looked_at = self._monotonic()
                await self.look(touched)
                touched = set()
            except Unavailable:
                pass  # they are looked at later
            await asyncio.sleep(_LOOK_EVERY_S)

    def marked(self) -> set[Pot]:
        """The pots that are marked."""
        return {Pot(OWNER_KIND, *mark) for mark in self._spent.value()}

    async def look(self, touched: Collection[Pot]) -> None:
        """Marks the pots among these that are empty, and takes the marks of others away. Raises `Unavailable`."""
        limited = self._limited(touched)
        left = await self._pots.left(limited)
        empty = {pot for pot, rest in left.items() if _is_empty(limited[pot], rest)}
        marked = self._spent.value()
        await self._write(_MARK, [mark for pot in empty if (mark := _mark(pot)) not in marked])
        await self._write(_UNMARK, [mark for pot in touched if pot not in empty and (mark := _mark(pot)) in marked])

    def _limited(self, touched: Collection[Pot]) -> Mapping[Pot, Limited]:
        now, limited = self._clock.now(), dict[Pot, Limited]()
        for name in {pot.owner for pot in touched}:
            armed = self._index().named(name)
            if armed is not None:
                limited |= {pot: each for pot, each in limited_by(armed.offer, now).items() if pot in touched}
        return limited

    async def _write(self, statement: Statement, marks: Sequence[Mark]) -> None:
        if marks:
            async with passing_failures():
                await self._pool.execute(*statement(**arrays(Mark, marks)))


def _mark(pot: Pot) -> Mark:
    return Mark(pot.owner, pot.period)


def _is_empty(limited: Limited, left: Amounts) -> bool:
    """Whether nothing can be taken any more: of something that is limited, nothing is left."""
    return any(most is not None and not rest for most, rest in zip(limited.bound, left, strict=True))
