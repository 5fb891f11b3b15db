"""Leaves a service alone for a while when it has failed several times running. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

TRIES: Final = 5  # that fail running before the service is left alone
FIRST: Final = timedelta(seconds=5)
LONGEST: Final = timedelta(minutes=1)


@dataclass(slots=True)
class Breaker:
    """After the pause one call goes through; when it fails too, the next pause is twice as long."""

    failures: int = 0
    closed_until: datetime | None = None
    _pause: timedelta = FIRST

    @property
    def is_open(self) -> bool:
        """Whether the service is left alone, but for one call now and then."""
        return self.closed_until is not None

    def may_ask(self, now: datetime) -> bool:
        """Whether a call may be made. The first one after a pause makes the others wait for its outcome."""
        if self.closed_until is None:
            return True
        if now < self.closed_until:
            return False
        self.closed_until = now + self._pause
        return True

    def succeeded(self) -> None:
        self.failures, self.closed_until, self._pause = 0, None, FIRST

    def failed(self, now: datetime) -> None:
        self.failures += 1
        if self.failures >= TRIES:
            self.closed_until = now + self._pause
            self._pause = min(2 * self._pause, LONGEST)
