"""Notes requests in memory, and writes them every second and when the process ends: no request waits for it. At most
`A_SECOND` are noted in a second, so that a flood of requests does not become a flood of rows; a killed process takes
its last second with it. What was posted is in the ledger.
"""

import asyncio
from collections import Counter
from datetime import datetime, timedelta
from typing import Final

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.intake.partners.metrics import REQUESTS_NOT_NOTED
from abacus.intake.partners.requests.store import RequestStore
from abacus.intake.partners.requests.types import Noted

KEPT: Final = timedelta(days=7)
A_SECOND: Final = 10  # answered requests, and as many refused ones, in each process
LONGEST_DETAIL: Final = 500
_EVERY_S: Final = 1.0
_MOST_WAITING: Final = 1000  # while the database is away
_FORGETTING_EVERY: Final = timedelta(hours=1)

log = structlog.get_logger(__name__)


class RequestJournal:
    """The requests that one process answered."""

    def __init__(self, store: RequestStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._noted: list[Noted] = []
        self._second = 0
        self._this_second: Counter[bool] = Counter()
        self._forget_after = clock.now()

    def takes_one(self, *, refused: bool) -> datetime | None:
        """The time, if one more request is noted now; None if not, and it is counted as not noted."""
        now = self._clock.now()
        second = int(now.timestamp())
        if second != self._second:
            self._second, self._this_second = second, Counter()
        if self._this_second[refused] >= A_SECOND or len(self._noted) >= _MOST_WAITING:
            REQUESTS_NOT_NOTED.inc()
            return None
        self._this_second[refused] += 1
        return now

    def note(self, request: Noted) -> None:
        self._noted.append(request)

    async def write(self) -> None:
        """What cannot be written now is written later."""
        now = self._clock.now()
        noted, self._noted = self._noted, []
        try:
            if noted:
                await self._store.add(noted)
            if now >= self._forget_after:
                await self._store.forget(now - KEPT)
                self._forget_after = now + _FORGETTING_EVERY
        except Unavailable as error:
            log.warning("requests of partners wait to be noted", away=error)
            self._noted = noted + self._noted

    async def keep_writing(self) -> None:
        """Runs until cancelled."""
        while True:
            await asyncio.sleep(_EVERY_S)
            await self.write()
