"""What was wrong a moment ago, so that a page can say since when, and that it is over."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from abacus.console.decide.alarms import Alarm, followed

_FRESH: Final = timedelta(seconds=15)


class AlarmMemory:
    """Of one process, as its pages have seen it."""

    def __init__(self) -> None:
        self._known: Sequence[Alarm] = ()
        self._noted_at: datetime | None = None

    def note(self, now_wrong: Sequence[Alarm], unread: set[str], now: datetime) -> Sequence[Alarm]:
        """The alarms that stand, and then the alarms that ended."""
        self._known, self._noted_at = followed(self._known, now_wrong, unread, now), now
        return self._known

    def fresh(self, now: datetime) -> Sequence[Alarm] | None:
        """All alarms, if they were noted a moment ago."""
        return self._known if self._noted_at is not None and now - self._noted_at < _FRESH else None
