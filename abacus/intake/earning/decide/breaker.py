"""Stops the calculator when too many messages are bad: then the fault is ours, not the senders'."""

from collections import deque

from abacus.core.errors import LineStopped


class Breaker:
    """Watches the share of bad messages among the most recent ones."""

    def __init__(self, share: float, *, window: int = 1000, at_least: int = 100) -> None:
        self._share = share
        self._window = window
        self._at_least = at_least
        self._batches: deque[tuple[int, int]] = deque()
        self._seen = 0
        self._bad = 0

    def watch(self, seen: int, bad: int) -> None:
        """Count a batch. Raises `LineStopped`, before anything of the batch is set aside, when too much is bad."""
        self._batches.append((seen, bad))
        self._seen += seen
        self._bad += bad
        while self._seen - self._batches[0][0] >= self._window:
            old_seen, old_bad = self._batches.popleft()
            self._seen -= old_seen
            self._bad -= old_bad
        if self._seen >= self._at_least and self._bad > self._share * self._seen:
            raise LineStopped(
                f"{self._bad} of the last {self._seen} messages would be quarantined, more than the"
                f" {self._share:.0%} allowed (ABACUS_QUARANTINE_SHARE); mend the cause, then start the worker again"
            )
