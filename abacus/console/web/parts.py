"""Parts of a page, each loaded by itself: one whose dependency is down says so, and the others are there."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar

from abacus.core.clock import Clock

Value = TypeVar("Value")


@dataclass(frozen=True)
class Down:
    """What does not answer, since when, and how it failed."""

    dependency: str
    since: datetime
    detail: str


@dataclass(frozen=True)
class Part(Generic[Value]):
    """The value, or the dependency that is down."""

    value: Value | None
    down: Down | None = None


_FORGOTTEN_AFTER: Final = timedelta(minutes=2)  # without another failure


class Outages:
    """Dependencies that failed a moment ago."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._spans: dict[str, tuple[datetime, datetime]] = {}

    def failed(self, dependency: str) -> datetime:
        """Notes a failure; returns when the first of this row was."""
        now = self._clock.now()
        first, last = self._spans.get(dependency, (now, now))
        if now - last > _FORGOTTEN_AFTER:
            first = now
        self._spans[dependency] = (first, now)
        return first

    def back(self, dependency: str) -> None:
        self._spans.pop(dependency, None)
