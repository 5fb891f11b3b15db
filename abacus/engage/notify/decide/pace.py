"""The pace of a channel by hour of day: its setting, and the moments at which messages start. Pure.

Each message has a moment of its own, one step after the one before, whichever process sends it. So nothing comes in
bursts, and no process makes up for a turn that another did not use.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from abacus.core.errors import Refused
from abacus.engage.notify.decide.message import ChannelName

LOOK_AHEAD: Final = timedelta(seconds=1)
# No turn is given out so far ahead: a later `free_at` is left from an hour with a slower rate, and nobody waits for it.
# Clocks differ by less, so a worker with a slow clock does not mistake the turns of others for such a leftover.
_FAR: Final = timedelta(minutes=1)
_HOURS_A_DAY: Final = 24
_MOST: Final = 100_000
_UNITS: Final = {"s": timedelta(seconds=1), "m": timedelta(minutes=1), "h": timedelta(hours=1)}
_ENTRY: Final = re.compile(r"(?P<channel>[a-z]+)=(?P<count>\d{1,6})/(?P<unit>[smh])(?:@(?P<hours>\d{1,2}-\d{1,2}))?")
_FORM: Final = "entries like sns=50/s or sns=50/s@8-20, separated by commas, are needed (a number / s, m or h)"


class Rate(NamedTuple):
    """One message a step, and none if the step is None. The rate holds in the hours from `first` until `until`, or
    always if there are none. `until` may be before `first`: then it is an hour of the next day.
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


Rates = Mapping[ChannelName, Sequence[Rate]]


class Pace(NamedTuple):
    """The rates of a channel, in the hours of a time zone."""

    rates: Sequence[Rate]
    zone: ZoneInfo

    def step(self, now: datetime) -> timedelta | None:
        """The step in force at a moment; of several entries for an hour the first counts."""
        hour = now.astimezone(self.zone).hour
        return next(rate.step for rate in self.rates if rate.covers(hour))


DEFAULT: Final[Rates] = {
    ChannelName.LOG: (Rate(timedelta(milliseconds=1)),),
    ChannelName.SNS: (Rate(timedelta(milliseconds=20)),),
    ChannelName.WEBHOOK: (Rate(timedelta(milliseconds=20)),),
}


class Slots(NamedTuple):
    """The number of messages that may start now: the first at `first_at`, each other one step later."""

    turns: int
    first_at: datetime
    step: timedelta


def read_rates(text: str) -> Rates:
    """Read the setting; a channel without an entry keeps its default. Raises `Refused`, naming the fault."""
    rates: dict[ChannelName, list[Rate]] = {}
    for entry in filter(None, (each.strip() for each in text.split(","))):
        match = _ENTRY.fullmatch(entry)
        if match is None:
            raise Refused(f"{entry!r}: {_FORM}")
        if match["channel"] not in set(ChannelName):
            raise Refused(f"{entry!r}: there is no channel {match['channel']!r}; there are {', '.join(ChannelName)}")
        rates.setdefault(ChannelName(match["channel"]), []).append(_rate(entry, match))
    for channel, of_channel in rates.items():
        silent = [hour for hour in range(_HOURS_A_DAY) if not any(rate.covers(hour) for rate in of_channel)]
        if silent:
            raise Refused(
                f"nothing is said of {channel} at {silent[0]}:00; add an entry without hours, or {channel}=0/s"
            )
    return {**DEFAULT, **rates}


def slots(step: timedelta | None, free_at: datetime, now: datetime, most: int) -> Slots:
    """The messages that may start within the next moment. `free_at` is when the channel's last turn has passed."""
    if step is None:
        return Slots(0, free_at, timedelta(0))
    if free_at > now + step + _FAR:
        free_at = now + step
    first_at = max(now, free_at)
    turns = (now + LOOK_AHEAD - first_at) // step + 1
    return Slots(max(0, min(turns, most)), first_at, step)


def _rate(entry: str, match: re.Match[str]) -> Rate:
    count = int(match["count"])
    if count > _MOST:
        raise Refused(f"{entry!r}: at most {_MOST:,}")
    step = _UNITS[match["unit"]] / count if count else None
    if match["hours"] is None:
        return Rate(step)
    first, until = map(int, match["hours"].split("-"))
    if first >= _HOURS_A_DAY or until > _HOURS_A_DAY or first == until:
        raise Refused(f"{entry!r}: hours go from 0-23 to 1-24, and are not the same")
    return Rate(step, first, until)
