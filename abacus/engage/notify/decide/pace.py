"""The setting for the pace of channels. Pure."""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from abacus.core.errors import Refused
from abacus.engage.notify.decide.message import ChannelName
from abacus.platform.pace.decide.pace import NotARate, Rate, read_rate, silent_hour

_ENTRY: Final = re.compile(r"(?P<channel>[a-z]+)=(?P<rate>.*)")
_FORM: Final = "entries like sns=50/s or sns=50/s@8-20, separated by commas, are needed (a number / s, m or h)"

Rates = Mapping[ChannelName, Sequence[Rate]]

DEFAULT: Final[Rates] = {
    ChannelName.LOG: (Rate(timedelta(milliseconds=1)),),
    ChannelName.SNS: (Rate(timedelta(milliseconds=20)),),
    ChannelName.WEBHOOK: (Rate(timedelta(milliseconds=20)),),
}


def read_rates(text: str) -> Rates:
    """Read the setting; a channel without an entry keeps its default. Raises `Refused`, naming the fault."""
    rates: dict[ChannelName, list[Rate]] = {}
    for entry in filter(None, (each.strip() for each in text.split(","))):
        match = _ENTRY.fullmatch(entry)
        if match is None:
            raise Refused(f"{entry!r}: {_FORM}")
        rate = _rate(entry, match["rate"])
        if match["channel"] not in set(ChannelName):
            raise Refused(f"{entry!r}: there is no channel {match['channel']!r}; there are {', '.join(ChannelName)}")
        rates.setdefault(ChannelName(match["channel"]), []).append(rate)
    for channel, of_channel in rates.items():
        if (hour := silent_hour(of_channel)) is not None:
            raise Refused(f"nothing is said of {channel} at {hour}:00; add an entry without hours, or {channel}=0/s")
    return {**DEFAULT, **rates}


def _rate(entry: str, text: str) -> Rate:
    try:
        return read_rate(text)
    except NotARate:
        raise Refused(f"{entry!r}: {_FORM}") from None
    except Refused as fault:
        raise Refused(f"{entry!r}: {fault}") from None
