"""Lets members into journeys in waves: of segments, and before points expire. One process at a time does it for all."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.directory import Running
from abacus.engage.journeys.expiry_waves import ExpiryWaves
from abacus.engage.journeys.gate import CANNOT_BE_TOLD
from abacus.engage.journeys.segment_waves import SegmentWaves
from abacus.platform.following.lease import still_held
from abacus.platform.postgres import Connection

LEASE: Final = "abacus waves of journeys"
_AGAIN: Final = timedelta(seconds=30)  # a look at a journey for whose members something cannot be told

log = structlog.get_logger(__name__)


class Waves:
    """A page of members of each journey that has any, so that few members do not wait behind a herd."""

    def __init__(
        self, running: Callable[[], Running], segments: SegmentWaves, expiries: ExpiryWaves, clock: Clock
    ) -> None:
        self._running = running
        self._segments = segments
        self._expiries = expiries
        self._clock = clock
        self._not_before: dict[str, datetime] = {}

    async def begin(self) -> None:
        """Before it leads: another process may have gone on meanwhile."""
        self._segments.forget()
        self._expiries.forget()

    async def step(self, leading: Connection) -> int:
        """The number of members and accounts that were looked at. Raises `Unavailable` where no journey goes on."""
        await still_held(leading)
        newest, looked, away = self._running().newest, 0, list[Unavailable]()
        for each in newest:
            try:
                looked += await self._of_journey(each)
            except Unavailable as error:  # a slice of its members, which others may not have
                self._wait(each, error)
                away.append(error)
        if away and len(away) == len(newest):
            raise away[0]
        return looked

    async def _of_journey(self, journey: Journey) -> int:
        now = self._clock.now()
        if now < self._not_before.get(journey.name, now):
            return 0
        try:
            return await self._segments.step(journey) + await self._expiries.step(journey)
        except Unavailable as error:
            if error.dependency not in CANNOT_BE_TOLD:
                raise
            self._wait(journey, error)
            return 0

    def _wait(self, journey: Journey, error: Unavailable) -> None:
        log.warning("a wave of a journey waits", journey=journey.label, why=error.detail)
        self._not_before[journey.name] = self._clock.now() + _AGAIN
