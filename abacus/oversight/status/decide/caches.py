"""The caches of running processes, side by side. Pure."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.platform.presence.types import CacheNote, ProcessNote, Report
from abacus.platform.reading.decide.shares import Settings, share_of

_WITHOUT_COMPUTING: Final = ("hit", "stale", "shared", "wait")


class CacheInUse(NamedTuple):
    """A route's answers in a process. `share`: of how many keys in a hundred they are kept; None: as the route says."""

    route: str
    process: str
    share: int | None
    note: CacheNote

    @property
    def asked(self) -> int:
        return sum(self.note.answers.values())

    @property
    def hit_rate(self) -> float:
        """The part of answers that nothing was computed for."""
        found = sum(self.note.answers.get(outcome, 0) for outcome in _WITHOUT_COMPUTING)
        return found / self.asked if self.asked else 0.0

    def of(self, *outcomes: str) -> int:
        answers = Counter(self.note.answers)
        return sum(answers[outcome] for outcome in outcomes)


def caches_in_use(processes: Sequence[ProcessNote], settings: Settings, now: datetime) -> Sequence[CacheInUse]:
    """By route, then the process that was asked most."""
    found = [
        CacheInUse(route, process.label(report), share_of(route, settings), note)
        for process in processes
        if not process.is_gone(now)
        for report in [Report.of(process.report)]
        for route, note in report.caches.items()
    ]
    return sorted(found, key=lambda each: (each.route, -each.asked, each.process))
