"""How often offers are in answers: one answer of many is looked at, by chance, and stands for all of these."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from datetime import date
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.engage.offers.decide.ask import Answer, Ask
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, arrays, columns, unnested

ONE_IN: Final = 64  # answers
_WRITE_EVERY_S: Final = 5.0
_RNG: Final = random.Random()


class _Shown(NamedTuple):
    """A row of `offer_shown`."""

    offer: str
    version: int
    day: date
    slot: int
    times: int


_ADD: Final = Statement(f"""
insert into offer_shown as s ({columns(_Shown)}) select u.* from {unnested(_Shown)} order by u.offer, u.version, u.day
on conflict (offer, version, day, slot) do update set times = s.times + excluded.times
""")


def _drawn() -> int:
    """After how many answers the next one is looked at: one of this number, and none in step with its callers."""
    return _RNG.randint(1, 2 * ONE_IN - 1)


class ShownOffers:
    """One for each process. What was not written yet when a process is killed is lost: it is a sample."""

    def __init__(self, pool: Pool, clock: Clock, *, slot: int, draw: Callable[[], int] = _drawn) -> None:
        self._pool = pool
        self._clock = clock
        self._slot = slot
        self._draw = draw
        self._left = draw()
        self._times: Counter[tuple[str, int, date]] = Counter()

    def note(self, ask: Ask, answer: Answer) -> None:
        """An offer counts once for an answer, whatever the number of items that it fits."""
        self._left -= 1
        if self._left > 0:
            return
        self._left = self._draw()
        day = self._clock.now().astimezone(ask.card.card.zone).date()
        shown = {
            (each.offer.name, each.offer.version)
            for item in answer.items
            if item.best is not None
            for each in (item.best, *item.others)
        }
        for name, version in shown:
            self._times[name, version, day] += ONE_IN

    async def keep_writing(self) -> None:
        """Runs until cancelled. While the database is away, it is counted on."""
        while True:
            await asyncio.sleep(_WRITE_EVERY_S)
            await self.write()

    async def write(self) -> None:
        """Writes what was counted, if the database is there."""
        times, self._times = self._times, Counter()
        if not times:
            return
        rows = [_Shown(*place, self._slot, each) for place, each in times.items()]
        try:
            async with passing_failures():
                await self._pool.execute(*_ADD(**arrays(_Shown, rows)))
        except Unavailable:
            self._times.update(times)
