"""Reading the points and tiers topics: events become notices. Offsets are committed afterwards, so no event is left
out; the event's id makes one notice of an event that is read twice.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from abacus.core.clock import Clock
from abacus.engage.notify.decide.notice import heard
from abacus.engage.notify.notices import Notices
from abacus.platform.following.topic import read_records
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import Record
from abacus.platform.metrics import NOTICES
from abacus.platform.patience import until_available

# Notices are kept for longer than this, so an event that is read again is either known or too old.
TOLD_WITHIN: Final = timedelta(days=3)


class Listener:
    """The reader of one topic. It passes over events that it cannot read, and tells nobody of events that are long
    past.
    """

    def __init__(self, notices: Notices, clock: Clock, health: WorkerHealth, *, gathered_for: timedelta) -> None:
        self._notices = notices
        self._clock = clock
        self._health = health
        self._gathered_for = gathered_for

    async def handle(self, records: Sequence[Record]) -> None:
        notices = read_records(records, heard)
        NOTICES.labels("unreadable").inc(notices.unreadable)
        too_old = self._clock.now() - TOLD_WITHIN
        fresh = [notice for notice in notices.values if notice.happened_at >= too_old]
        new = await until_available(lambda: self._notices.enter(fresh, gathered_for=self._gathered_for), self._health)
        NOTICES.labels("entered").inc(new)
        NOTICES.labels("known").inc(len(fresh) - new)
        NOTICES.labels("too_old").inc(len(notices.values) - len(fresh))
