"""Figures as charts show them: outcomes by day and arm, limits as bars, and time in equal steps. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.run import RunOutcome
from abacus.engage.limits.types import MICROS, Amounts


@dataclass(frozen=True)
class Series:
    """Days as seconds since 1970, and the values of each line."""

    times: Sequence[int]
    lines: Sequence[dict[str, object]]


def series_of(events_of: Iterable[tuple[date, str, str, int]]) -> Series:
    """The runs of each arm by day, days without any among them; out of events by day, arm and outcome."""
    done = [(day, arm, events) for day, arm, outcome, events in events_of if outcome == RunOutcome.DONE]
    if not done:
        return Series([], [])
    first, last = min(day for day, _, _ in done), max(day for day, _, _ in done)
    if first == last:  # a line needs more than one day
        first, last = first - timedelta(days=1), last + timedelta(days=1)
    all_days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    arms = sorted({arm for _, arm, _ in done})
    times = [int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) for day in all_days]
    runs = Counter[tuple[str, date]]()
    for day, arm, events in done:
        runs[arm, day] += events
    return Series(times, [{"label": arm or "done", "values": [runs[arm, day] for day in all_days]} for arm in arms])


@dataclass(frozen=True)
class Bar:
    """One limit over the whole life: what is used of it, in words, and as a share from 0 to 1."""

    name: str
    used: str
    most: str
    share: float


def bars_of(campaign: Campaign, have: Amounts) -> list[Bar]:
    """The bars of all members together."""
    bound = campaign.limits.overall
    return [
        Bar(
            "budget" if name == "cost" else name,
            _amount(name, amount),
            _amount(name, most),
            min(1.0, amount / most) if most else 1.0,
        )
        for name, amount, most in zip(bound._fields, have, bound, strict=True)
        if most is not None
    ]


def _amount(name: str, amount: int) -> str:
    return f"{amount / MICROS:,.2f}" if name == "cost" else f"{amount:,}"


SECONDS: Final = {"quarters": 900, "hours": 3600, "days": 86400}
MOST: Final = 400


class Span(NamedTuple):
    """From the one second since 1970 up to and without the other."""

    begin: int
    end: int


def spans_of(begin: int, end: int, step: str) -> Sequence[Span]:
    """Both ends are floored to the quarter of an hour. Raises `ValueError`, in words, for more steps than a chart holds
    or none.
    """
    size, quarter = SECONDS[step], SECONDS["quarters"]
    begin, end = begin - begin % quarter, end - end % quarter
    if end <= begin:
        raise ValueError("The range ends before it begins.")
    count = -(-(end - begin) // size)
    if count > MOST:
        raise ValueError(f"That is {count:,} {step}; a chart holds {MOST}. Take longer steps or a shorter range.")
    return [Span(at, min(at + size, end)) for at in range(begin, end, size)]
