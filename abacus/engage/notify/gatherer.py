"""Making messages of the due notices, and removing old ones."""

import asyncio
from collections.abc import Callable, Collection
from datetime import timedelta
from typing import Final

import structlog

from abacus.core.clock import Clock
from abacus.engage.notify.decide.contact import Policies, Stopped
from abacus.engage.notify.decide.message import ChannelName
from abacus.engage.notify.metrics import NOTIFICATIONS_OLDEST, NOTIFICATIONS_WAITING, PUT_OFF, UNTOLD
from abacus.engage.notify.notices import Notices
from abacus.engage.notify.notifications import Notifications
from abacus.platform.delivery.deliverer import IDLE_S, Periodic
from abacus.platform.health import WorkerHealth
from abacus.platform.patience import unless_stopped, until_available

_COUNT_EVERY_S: Final = 15.0
_PRUNE_EVERY_S: Final = 600.0
_DRAIN_S: Final = 5.0  # a gathering that is cut off is done again

log = structlog.get_logger(__name__)


class Gatherer:
    """Gathers the notices of a slice, once in each process; only one process gathers there at a time."""

    def __init__(
        self,
        number: int,
        notices: Notices,
        notifications: Notifications,
        channels: Collection[ChannelName],
        *,
        policies: Callable[[], Policies],
        stopped: Stopped,
        clock: Clock,
        health: WorkerHealth,
        keep: timedelta,
        idle_s: float = IDLE_S,
    ) -> None:
        self._notices = notices
        self._notifications = notifications
        self._number = number
        self._channels = channels
        self._policies = policies
        self._stopped = stopped
        self._clock = clock
        self._health = health
        self._keep = keep
        self._idle_s = idle_s
        counting = [Periodic(self._count, _COUNT_EVERY_S)] if number == 0 else []  # one counts for all slices
        self._periodically = *counting, Periodic(self._prune, _PRUNE_EVERY_S)

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set."""
        while not stop.is_set():
            gathering = until_available(self._step, self._health)
            if not await unless_stopped(gathering, stop, grace_s=_DRAIN_S):
                await unless_stopped(asyncio.sleep(self._idle_s), stop)

    async def _step(self) -> int:
        """Gather once; return how many notices became messages. Raises `Unavailable`."""
        for each in self._periodically:
            await each.if_due()
        gathered = await self._notices.gather(self._number, self._channels, self._policies(), self._stopped)
        for untold in gathered.untold:
            UNTOLD.labels(untold.channel, untold.kind, untold.cause).inc()
        for put_off in gathered.put_off:
            PUT_OFF.labels(put_off.cause).inc()
        self._health.ready()
        return gathered.notices

    async def _count(self) -> None:
        now = self._clock.now()
        for channel, waiting in (await self._notifications.waiting(now)).items():
            NOTIFICATIONS_WAITING.labels(channel).set(waiting.deliveries)
            NOTIFICATIONS_OLDEST.labels(channel).set(waiting.age_s(now))

    async def _prune(self) -> None:
        removed = await self._notifications.prune(self._number, self._clock.now() - self._keep)
        if removed:
            log.info("old notifications removed", rows=removed)
