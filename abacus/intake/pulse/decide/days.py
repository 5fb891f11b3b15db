"""A day against the same day of the week before, hour by hour. Pure."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from abacus.intake.pulse.decide.steps import within
from abacus.intake.pulse.types import Summed

WEEK: Final = timedelta(days=7)
_HOUR: Final = timedelta(hours=1)
_PROMPT_S: Final = 300.0  # what took longer was old when it came: its age says nothing of the house
_HALF: Final = 0.5
_NEARLY_ALL: Final = 0.99


class Hour(NamedTuple):
    """Points of an hour of the day, None where it is to come, and of the same hour a week before."""

    since: datetime
    points: int | None
    before: int


class Day(NamedTuple):
    """The day so far, and the same day a week before up to the same time. `half_s` and `nearly_all_s` are of awards
    whose transactions came as they happened; `late` others were old when they came.
    """

    hours: Sequence[Hour]
    points: int
    awards: int
    before: int
    half_s: float | None
    nearly_all_s: float | None
    late: int


def day_of(today: Sequence[Summed], week_ago: Iterable[Summed], midnight: datetime, now: datetime) -> Day:
    """`midnight` is the beginning of the day."""
    points, before = [0] * 24, [0] * 24
    for each in today:
        points[_hour(each.since - midnight)] += each.points
    so_far = 0
    for each in week_ago:
        passed = each.since - (midnight - WEEK)
        before[_hour(passed)] += each.points
        so_far += each.points if midnight + passed < now else 0
    prompt = [each for each in today if each.within_s <= _PROMPT_S]
    hours = [midnight + _HOUR * number for number in range(24)]
    return Day(
        hours=[Hour(at, points[n] if at <= now else None, before[n]) for n, at in enumerate(hours)],
        points=sum(points),
        awards=sum(each.awards for each in today),
        before=so_far,
        half_s=within(prompt, _HALF),
        nearly_all_s=within(prompt, _NEARLY_ALL),
        late=sum(each.awards for each in today if each.within_s > _PROMPT_S),
    )


def _hour(passed: timedelta) -> int:
    """A day of 25 hours has its last two in one."""
    return max(0, min(23, passed // _HOUR))
