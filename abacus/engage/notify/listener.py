"""Hearing of what happened: events of the points and tiers topics become notices. Their offsets are committed after
that, so nothing is left out; the event's id makes one notice of what is read twice.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import structlog

from abacus.core.clock import Clock
from abacus.engage.notify.decide.notice import Notice, Unreadable, heard
from abacus.engage.notify.notices import Notices
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import Record
from abacus.platform.metrics import NOTICES
from abacus.platform.patience import until_available

# Notices are kept for longer than this, so an event that is read again is either known or too old.
TOLD_WITHIN: Final = timedelta(days=3)

log = structlog.get_logger(__name__)


class Listener:
    """One for each topic. What cannot be read holds up nothing, and what is long past is not told any more."""

    def __init__(self, notices: Notices, clock: Clock, health: WorkerHealth, *, gathered_for: timedelta) -> None:
        self._notices = notices
        self._clock = clock
        self._health = health
        self._gathered_for = gathered_for

    async def handle(self, records: Sequence[Record]) -> None:
        notices = [notice for record in records if (notice := _read(record)) is not None]
        too_old = self._clock.now() - TOLD_WITHIN
        fresh = [notice for notice in notices if notice.happened_at >= too_old]
        new = await until_available(lambda: self._notices.enter(fresh, gathered_for=self._gathered_for), self._health)
        NOTICES.labels("entered").inc(new)
        NOTICES.labels("known").inc(len(fresh) - new)
        NOTICES.labels("too_old").inc(len(notices) - len(fresh))


def _read(record: Record) -> Notice | None:
    try:
        return heard(record.value)
    except Unreadable as fault:
        NOTICES.labels("unreadable").inc()
        log.warning("event skipped", at=f"{record.topic}:{record.partition}:{record.offset}", why=str(fault))
        return None
