"""What came of events by day, as lines of a chart: one for each arm. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Protocol

from abacus.engage.campaigns.decide.run import RunOutcome


class DayLine(Protocol):
    """The events of a day with one outcome, in one arm."""

    @property
    def day(self) -> date: ...
    @property
    def variant(self) -> str: ...
    @property
    def outcome(self) -> str: ...
    @property
    def events(self) -> int: ...


@dataclass(frozen=True)
class Series:
    """Days as seconds since 1970, and the values of each line."""

    times: Sequence[int]
    lines: Sequence[dict[str, object]]


def series_of(days: Sequence[DayLine]) -> Series:
    """The runs of each arm by day, days without any among them."""
    done = [line for line in days if line.outcome == RunOutcome.DONE]
    if not done:
        return Series([], [])
    first, last = min(line.day for line in done), max(line.day for line in done)
    if first == last:  # a line needs more than one day
        first, last = first - timedelta(days=1), last + timedelta(days=1)
    all_days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    arms = sorted({line.variant for line in done})
    times = [int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) for day in all_days]
    events = Counter[tuple[str, date]]()
    for line in done:
        events[line.variant, line.day] += line.events
    return Series(times, [{"label": arm or "done", "values": [events[arm, day] for day in all_days]} for arm in arms])
