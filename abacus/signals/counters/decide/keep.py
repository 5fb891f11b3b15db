"""For how long counts are kept, by the length of their slots. Pure."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from abacus.core.fields import Bad, Fields, quoted, string
from abacus.signals.counters.types import Grain

_UNITS: Final[Mapping[str, int]] = {"y": 365 * 86_400, "d": 86_400, "h": 3_600}
_DURATION: Final = re.compile(r"([1-9][0-9]{0,4})([hdy])")
_LONGEST_S: Final = 10 * _UNITS["y"]
_NOT_KEPT: Final = "0"
_NAMES: Final[Mapping[Grain, str]] = {
    Grain.MINUTE: "minutes",
    Grain.QUARTER: "quarters",
    Grain.HOUR: "hours",
    Grain.DAY: "days",
}
_MOST_HOURS_OF_MINUTES: Final = 48
DEFAULT_KEEP: Final[Mapping[Grain, int]] = MappingProxyType(
    {Grain.QUARTER: 8 * _UNITS["d"], Grain.HOUR: 60 * _UNITS["d"], Grain.DAY: 2 * _UNITS["y"]}
)


def read_keep(table: Fields) -> Mapping[Grain, int]:
    """The seconds for each grain that is kept. A grain that the table does not name is kept as long as usual, or as
    long as a finer grain that is kept longer; minutes are kept only if it names them.
    """
    keep: dict[Grain, int] = {}
    longest = 0
    for grain, name in _NAMES.items():
        seconds = table.read_if_there(name, _duration, max(DEFAULT_KEEP.get(grain, 0), longest))
        if grain is Grain.MINUTE and seconds > _MOST_HOURS_OF_MINUTES * _UNITS["h"]:
            table.note(name, f"minutes are kept for hours, for {_MOST_HOURS_OF_MINUTES}h at most")
        elif seconds == 0 and grain is Grain.QUARTER:
            table.note(name, "quarters are always kept; write for how long, such as 8d")
        elif 0 < seconds < longest:
            table.note(
                name,
                f"shorter than finer counts are kept, so that nobody would need them; write {_NOT_KEPT!r} for none",
            )
        elif seconds:
            keep[grain] = longest = seconds
    table.refuse_unknown()
    return keep


def keep_document(keep: Mapping[Grain, int]) -> dict[str, str]:
    """As `read_keep` reads it."""
    named = (grain for grain in _NAMES if grain in keep or grain in DEFAULT_KEEP)
    return {_NAMES[grain]: in_words(keep.get(grain, 0)) for grain in named}


def in_words(seconds: int) -> str:
    """A duration as definitions write it: 8d."""
    for unit, length in _UNITS.items():
        if seconds and seconds % length == 0:
            return f"{seconds // length}{unit}"
    return _NOT_KEPT


def name_of(grain: Grain) -> str:
    """The plural: quarters."""
    return _NAMES[grain]


def _duration(value: object) -> int:
    text = string(value)
    if text == _NOT_KEPT:
        return 0
    match = _DURATION.fullmatch(text)
    if match is None:
        raise Bad(f"{quoted(text)} is not a duration; write hours, days or years, such as 36h, 60d or 2y")
    seconds = int(match[1]) * _UNITS[match[2]]
    if seconds > _LONGEST_S:
        raise Bad(f"{text} is longer than {in_words(_LONGEST_S)}")
    return seconds
