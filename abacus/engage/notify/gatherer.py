"""Making messages of the notices that are due, and removing what was told long ago."""

import asyncio
import time
from collections.abc import Collection
from datetime import timedelta
from typing import Final

import structlog

from abacus.core.clock import Clock
from abacus.engage.notify.decide.message import ChannelName
from abacus.engage.notify.notices import Notices
from abacus.engage.notify.outbox import Outbox
from abacus.platform.health import WorkerHealth
from abacus.platform.metrics import NOTIFICATIONS_OLDEST, NOTIFICATIONS_WAITING
from abacus.platform.patience import unless_stopped, until_available

_IDLE_S: Final = 0.2
_COUNT_EVERY_S: Final = 15.0
_PRUNE_EVERY_S: Final = 600.0
_DRAIN_S: Final = 5.0  # what is cut off is gathered again

log = structlog.get_logger(__name__)


class Gatherer:
    """One for each process; one of them gathers at a time."""

    def __init__(
        self,
        notices: Notices,
        outbox: Outbox,
        channels: Collection[ChannelName],
        clock: Clock,
        health: WorkerHealth,
        *,
        keep: timedelta,
    ) -> None:
        self._notices = notices
        self._outbox = outbox
        self._channels = channels
        self._clock = clock
        self._health = health
        self._keep = keep
        self._counted_at = self._pruned_at = float("-inf")

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set."""
        while not stop.is_set():
            gathering = until_available(self._step, self._health)
            if not await unless_stopped(gathering, stop, grace_s=_DRAIN_S):
                await unless_stopped(asyncio.sleep(_IDLE_S), stop)

    async def _step(self) -> int:
        """How many notices became messages. Raises `Unavailable`."""
        gathered = await self._notices.gather(self._channels)
        now = time.monotonic()
        if now - self._counted_at >= _COUNT_EVERY_S:
            await self._count()
            self._counted_at = now
        if now - self._pruned_at >= _PRUNE_EVERY_S:
            removed = await self._outbox.prune(self._clock.now() - self._keep)
            self._pruned_at = now
            if removed:
                log.info("old notifications removed", rows=removed)
        self._health.ready()
        return gathered.notices

    async def _count(self) -> None:
        waiting = await self._outbox.waiting()
        now = self._clock.now()
        for channel in ChannelName:
            found = waiting.get(channel)
            NOTIFICATIONS_WAITING.labels(channel).set(found.messages if found else 0)
            age_s = (now - found.oldest).total_seconds() if found else 0
            NOTIFICATIONS_OLDEST.labels(channel).set(max(0, age_s))
