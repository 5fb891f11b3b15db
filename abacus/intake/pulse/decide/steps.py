"""The sums of a range, step by step. Pure."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from abacus.intake.pulse.types import BOUNDS_S, Step, Summed


class Range(StrEnum):
    """The ranges that people look at; each ends now."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"

    @property
    def step(self) -> Step:
        return Step.MINUTE if self is Range.HOUR else Step.QUARTER

    def begins(self, now: datetime) -> datetime:
        """The beginning of its first step."""
        return begin_of(self.step, now) - _LENGTHS[self] + self.step.length


class Beat(NamedTuple):
    """What was posted in a step, as rates a minute, and the seconds within which half of the awards, and 99 in 100, had
    their points: None where nothing was posted. A day stands for longer, too.
    """

    since: datetime
    awards: float
    points: float
    half_s: float | None
    nearly_all_s: float | None


_LENGTHS: Final = {Range.HOUR: timedelta(hours=1), Range.DAY: timedelta(days=1), Range.WEEK: timedelta(days=7)}
_LONGEST_S: Final = BOUNDS_S[-2]
_HALF: Final = 0.5
_NEARLY_ALL: Final = 0.99


def begin_of(step: Step, at: datetime) -> datetime:
    minute = at.minute - at.minute % (step.length // timedelta(minutes=1))
    return at.replace(minute=minute, second=0, microsecond=0)


def beats(sums: Iterable[Summed], range_: Range, now: datetime) -> Sequence[Beat]:
    """One for each step of the range, also for a step without sums. The last step is under way: its rates are of the
    time that has passed of it.
    """
    by_step: dict[datetime, list[Summed]] = {}
    for each in sums:
        by_step.setdefault(each.since, []).append(each)
    first, length = range_.begins(now), range_.step.length
    steps = [first + length * number for number in range(_LENGTHS[range_] // length)]
    return [
        _beat(since, by_step.get(since, ()), min(length, max(now - since, timedelta(seconds=1)))) for since in steps
    ]


def _beat(since: datetime, sums: Sequence[Summed], passed: timedelta) -> Beat:
    minutes = passed / timedelta(minutes=1)
    awards, points = sum(each.awards for each in sums), sum(each.points for each in sums)
    return Beat(since, awards / minutes, points / minutes, within(sums, _HALF), within(sums, _NEARLY_ALL))


def within(sums: Sequence[Summed], share: float) -> float | None:
    """The bound within which that share of the awards came."""
    needed, counted = share * sum(each.awards for each in sums), 0
    for each in sorted(sums, key=lambda each: each.within_s):
        counted += each.awards
        if counted >= needed:
            return min(each.within_s, _LONGEST_S)
    return None
