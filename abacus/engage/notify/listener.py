"""Reading the points and tiers topics: events become notices. Offsets are committed afterwards, so no event is left
out; the event's id makes one notice of an event that is read twice.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from abacus.core.clock import Clock
from abacus.engage.notify.decide.notice import Notice, heard
from abacus.engage.notify.metrics import NOTICES
from abacus.engage.notify.notices import Notices
from abacus.platform.following.passing_over import PassedOver
from abacus.platform.following.topic import read_records
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import Record
from abacus.platform.patience import until_available
from abacus.platform.postgres import Pool
from abacus.platform.slices import Slice

# Notices are kept for longer than this, so an event that is read again is either known or too old.
TOLD_WITHIN: Final = timedelta(days=3)


class Listener:
    """The reader of one topic. It skips events that it cannot read, and tells nobody of events that are long past.
    Those of slices whose servers are away stay behind.
    """

    def __init__(
        self, pool: Pool, notices: Notices, clock: Clock, health: WorkerHealth, *, gathered_for: timedelta
    ) -> None:
        self._notices = notices
        self._clock = clock
        self._health = health
        self._gathered_for = gathered_for
        self._passed_over = PassedOver(pool)

    async def handle(self, records: Sequence[Record]) -> Sequence[Record]:
        """Returns the records that stay behind. Raises `StartAgain`."""
        await self._passed_over.look()
        notices = read_records(records, heard)
        NOTICES.labels("unreadable").inc(notices.unreadable)
        too_old = self._clock.now() - TOLD_WITHIN
        fresh = [notice for notice in notices.values if notice.happened_at >= too_old]
        NOTICES.labels("too_old").inc(len(notices.values) - len(fresh))
        await until_available(lambda: self._passed_over.split(fresh, self._enter), self._health)
        return await self._passed_over.behind(records, heard)

    async def _enter(self, slice_: Slice, notices: Sequence[Notice]) -> None:
        new = await self._notices.enter_in(slice_, notices, gathered_for=self._gathered_for)
        NOTICES.labels("entered").inc(new)
        NOTICES.labels("known").inc(len(notices) - new)
