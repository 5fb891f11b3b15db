"""Sums in the memory of the process that posts, written every few seconds and when the process ends. A killed process
takes the last seconds of its sums with it; the points are in the ledger.
"""

import asyncio
from bisect import bisect_left
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.intake.pulse.decide.steps import begin_of
from abacus.intake.pulse.store import PulseStore
from abacus.intake.pulse.types import BOUNDS_S, Step, Sum
from abacus.ledger.types.award_envelope import Award

_EVERY_S: Final = 5.0
_FORGETTING_EVERY: Final = timedelta(hours=1)

_Sums = dict[tuple[Step, datetime, str, float], list[int]]

log = structlog.get_logger(__name__)


class Tally:
    """Counts posted awards."""

    def __init__(self, store: PulseStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._sums: _Sums = {}
        self._forget_after = clock.now()

    def posted(self, awards: Iterable[Award], now: datetime) -> None:
        by_country: dict[tuple[str, float], list[int]] = {}
        for award in awards:
            within_s = BOUNDS_S[bisect_left(BOUNDS_S, (now - award.occurred_at).total_seconds())]
            sum_ = by_country.setdefault((award.country, within_s), [0, 0])
            sum_[0] += 1
            sum_[1] += award.points
        for step in Step:
            since = begin_of(step, now)
            for (country, within_s), sum_ in by_country.items():
                self._add((step, since, country, within_s), sum_)

    async def write(self) -> None:
        """What cannot be written now is written later, unless nobody would look at it any more."""
        now = self._clock.now()
        sums, self._sums = self._sums, {}
        try:
            if sums:
                await self._store.add([Sum(*key, *sum_) for key, sum_ in sums.items()])
            if now >= self._forget_after:
                await self._store.forget(now)
                self._forget_after = now + _FORGETTING_EVERY
        except Unavailable as error:
            log.warning("sums of what was posted wait", away=error)
            for key, sum_ in sums.items():
                if now - key[1] < key[0].kept:
                    self._add(key, sum_)

    async def keep_writing(self) -> None:
        """Runs until cancelled."""
        while True:
            await asyncio.sleep(_EVERY_S)
            await self.write()

    def _add(self, key: tuple[Step, datetime, str, float], sum_: list[int]) -> None:
        own = self._sums.setdefault(key, [0, 0])
        own[0] += sum_[0]
        own[1] += sum_[1]
