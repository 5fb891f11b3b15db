"""Charts as values: lines along time, the runs of campaigns by day, and series of counters. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias
from zoneinfo import ZoneInfo

from abacus.engage.campaigns.decide.run import RunOutcome
from abacus.signals.counters.reading.types import Series

SECONDS: Final = {"minutes": 60, "quarters": 900, "hours": 3600, "days": 86400}
MOST: Final = 400


class Along(StrEnum):
    """What a chart runs along. Days and months belong to a calendar and have no zone."""

    MOMENTS = "moments"
    DAYS = "days"
    MONTHS = "months"


Value: TypeAlias = int | float | Decimal | None  # None: nothing is known of that step


@dataclass(frozen=True)
class Line:
    """The values of one thing, one for each step."""

    label: str
    values: Sequence[Value]

    @property
    def latest(self) -> str:
        """The last value that is known."""
        return _said(next((each for each in reversed(self.values) if each is not None), None))


@dataclass(frozen=True)
class Threshold:
    """Where an alert begins."""

    label: str
    value: int | float | Decimal

    @property
    def said(self) -> str:
        return _said(self.value)


class Row(NamedTuple):
    """A step, as a table says it."""

    at: datetime
    values: Sequence[str]


@dataclass(frozen=True)
class Chart:
    """`times` are the beginnings of the steps, in seconds since 1970, at least one; of days and months, by the clock of
    UTC. `unit` is what the values count. `is_log`: values of many sizes. `is_open`: the last
    step has not ended.
    """

    title: str
    along: Along
    times: Sequence[int]
    lines: Sequence[Line]
    unit: str = ""
    thresholds: Sequence[Threshold] = ()
    is_log: bool = False
    is_open: bool = False

    @property
    def has_bars(self) -> bool:
        """Steps of a day or more stand for themselves; shorter ones make a line."""
        return self.along != Along.MOMENTS or (len(self.times) > 1 and self.times[1] - self.times[0] >= SECONDS["days"])

    @property
    def latest_at(self) -> datetime:
        return datetime.fromtimestamp(self.times[-1], UTC)

    @property
    def columns(self) -> Sequence[str]:
        """The columns of the table; a column of numbers begins with #."""
        return [_COLUMN[self.along], *(f"#{line.label}" for line in self.lines)]

    @property
    def rows(self) -> Sequence[Row]:
        """The newest first, without steps of which nothing is known."""
        steps = zip(self.times, *(line.values for line in self.lines), strict=True)
        known = [(at, values) for at, *values in steps if any(each is not None for each in values)]
        return [
            Row(datetime.fromtimestamp(at, UTC), [_said(each) for each in values]) for at, values in reversed(known)
        ]

    def drawn(self, zone: str) -> dict[str, object]:
        """What the script draws: an amount of money as the nearest number that a chart has."""
        return {
            "along": self.along,
            "bars": self.has_bars,
            "log": self.is_log,
            "zone": zone if self.along == Along.MOMENTS else "UTC",
            "times": list(self.times),
            "lines": [[_number(each) for each in line.values] for line in self.lines],
            "thresholds": [_number(each.value) for each in self.thresholds],
        }


_COLUMN: Final = {Along.MOMENTS: "since", Along.DAYS: "day", Along.MONTHS: "month"}


def _said(value: Value) -> str:
    match value:
        case None:
            return "–"
        case float():
            return f"{value:,.2f}".rstrip("0").rstrip(".")
        case _:
            return f"{value:,}"


def _number(value: Value) -> int | float | None:
    return float(value) if isinstance(value, Decimal) else value


def midnight(day: date) -> int:
    """Where a day stands on a chart along days, and a month, by its first day, on one along months."""
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())


def by_day(title: str, unit: str, counts: Mapping[str, Mapping[date, int]]) -> Chart | None:
    """A line for each of the counts, from the first day to the last, days without any among them."""
    known = [day for of_days in counts.values() for day in of_days]
    if not known:
        return None
    first, last = min(known), max(known)
    all_days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    lines = [Line(label, [of_days.get(day, 0) for day in all_days]) for label, of_days in counts.items()]
    return Chart(title, Along.DAYS, [midnight(day) for day in all_days], lines, unit)


def runs_by_day(events_of: Iterable[tuple[date, str, str, int]]) -> Chart | None:
    """The runs of each arm; out of events by day, arm and outcome."""
    runs: dict[str, Counter[date]] = {}
    for day, arm, outcome, events in sorted(events_of, key=itemgetter(1)):
        if outcome == RunOutcome.DONE:
            runs.setdefault(arm or "done", Counter())[day] += events
    return by_day("Runs by day", "runs", runs)


def check_steps(begin: int, end: int, step: str) -> None:
    """Raises `ValueError`, in words, for more steps than a chart holds or none."""
    if end <= begin:
        raise ValueError("The range ends before it begins.")
    count = -(-(end - begin) // SECONDS[step])
    if count > MOST:
        raise ValueError(f"That is {count:,} {step}; a chart holds {MOST}. Take longer steps or a shorter range.")


def of_series(title: str, series: Mapping[str, Series]) -> Chart:
    """A line for each series, all of one grain. Days of several zones begin at different times: a line says nothing of
    a step that is not its own.
    """
    counts = {label: dict(zip(each.begins, each.values, strict=True)) for label, each in series.items()}
    times = sorted({begin for of_line in counts.values() for begin in of_line})
    lines = [Line(label, [of_line.get(begin) for begin in times]) for label, of_line in counts.items()]
    return Chart(title, Along.MOMENTS, times, lines, is_open=any(each.is_open for each in series.values()))


def of_days(title: str, unit: str, zone: ZoneInfo, series: Mapping[str, Series]) -> Chart | None:
    """A line for each series, all of the same days of one clock; None where nothing happened."""
    if not any(any(each.units) for each in series.values()):
        return None
    begins = next(iter(series.values())).begins
    times = [midnight(datetime.fromtimestamp(begin, zone).date()) for begin in begins]
    lines = [Line(label, each.values) for label, each in series.items()]
    return Chart(title, Along.DAYS, times, lines, unit, is_open=any(each.is_open for each in series.values()))
