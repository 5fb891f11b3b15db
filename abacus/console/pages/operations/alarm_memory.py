"""What was wrong a moment ago, so that a page can say since when, and that it is over."""

from collections.abc import Sequence
from datetime import datetime

from abacus.console.decide.alarms import Alarm, followed


class AlarmMemory:
    """Of one process, as its pages have seen it."""

    def __init__(self) -> None:
        self._known: Sequence[Alarm] = ()

    def note(self, now_wrong: Sequence[Alarm], unread: set[str], now: datetime) -> Sequence[Alarm]:
        """All alarms, those that are over behind."""
        self._known = followed(self._known, now_wrong, unread, now)
        return self._known
