"""A pace by hour of day: its text, and the turns that it gives. Pure."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from abacus.core.errors import Refused

LOOK_AHEAD: Final = timedelta(seconds=1)
# No turn is given out so far ahead: a later `free_at` is left from an hour with a slower rate, and nobody waits for it.
# Clocks differ by less, so a worker with a slow clock does not mistake the turns of others for such a leftover.
_FAR: Final = timedelta(minutes=1)
_HOURS_A_DAY: Final = 24
_MOST: Final = 100_000
_UNITS: Final = {"s": timedelta(seconds=1), "m": timedelta(minutes=1), "h": timedelta(hours=1)}
_RATE: Final = re.compile(r"(?P<count>\d{1,6})/(?P<unit>[smh])(?:@(?P<hours>\d{1,2}-\d{1,2}))?")


class Rate(NamedTuple):
    """One turn a step, and none if the step is None. The rate holds in the hours from `first` until `until`, or always
    if there are none. `until` may be before `first`: then it is an hour of the next day.
    """

    step: timedelta | None
    first: int | None = None
    until: int | None = None

    def covers(self, hour: int) -> bool:
        if self.first is None or self.until is None:
            return True
        if self.first < self.until:
            return self.first <= hour < self.until
        return hour >= self.first or hour < self.until


class Pace(NamedTuple):
    """Rates, in the hours of a time zone."""

    rates: Sequence[Rate]
    zone: ZoneInfo

    def step(self, now: datetime) -> timedelta | None:
        """The step in force at a moment; of several rates for an hour the first counts."""
        hour = now.astimezone(self.zone).hour
        return next(rate.step for rate in self.rates if rate.covers(hour))


class Slots(NamedTuple):
    """The turns that may be taken now: the first at `first_at`, each other one step later."""

    turns: int
    first_at: datetime
    step: timedelta

    def after(self, taken: int) -> datetime:
        """When the receiver is free again once `taken` turns are taken."""
        return self.first_at + taken * self.step


class NotARate(Refused):
    """The text is no rate; the caller knows how its entries are written."""


def read_rate(text: str) -> Rate:
    """From `50/s` or `50/s@8-20`. Raises `NotARate`, and `Refused` with the fault of a rate."""
    match = _RATE.fullmatch(text)
    if match is None:
        raise NotARate(f"{text!r} is not a number / s, m or h, such as 50/s or 50/s@8-20")
    count = int(match["count"])
    if count > _MOST:
        raise Refused(f"at most {_MOST:,}")
    step = _UNITS[match["unit"]] / count if count else None
    if match["hours"] is None:
        return Rate(step)
    first, until = map(int, match["hours"].split("-"))
    if first >= _HOURS_A_DAY or until > _HOURS_A_DAY or first == until:
        raise Refused("hours go from 0-23 to 1-24, and are not the same")
    return Rate(step, first, until)


def silent_hour(rates: Sequence[Rate]) -> int | None:
    """The first hour of which no rate says anything."""
    return next((hour for hour in range(_HOURS_A_DAY) if not any(rate.covers(hour) for rate in rates)), None)


def slots(step: timedelta | None, free_at: datetime, now: datetime, most: int) -> Slots:
    """The turns within the next moment. `free_at` is when the last turn has passed."""
    if step is None:
        return Slots(0, free_at, timedelta(0))
    if free_at > now + step + _FAR:
        free_at = now + step
    first_at = max(now, free_at)
    turns = (now + LOOK_AHEAD - first_at) // step + 1
    return Slots(max(0, min(turns, most)), first_at, step)
