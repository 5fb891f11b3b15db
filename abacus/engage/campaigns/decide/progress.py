"""How far a member has come in a campaign: which of its events the next one is, and what it has been given. Pure."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from abacus.engage.campaigns.decide.calendar import day_of, period_of
from abacus.engage.campaigns.decide.campaign import Campaign, Period
from abacus.engage.limits.types import NOTHING, Amounts, Scope

WHOLE: Final = ""  # the scope of the whole life of a campaign


class ProgressPlace(NamedTuple):
    """Where progress is kept: for a member, in a campaign, over its whole life or over a day, a week or a month."""

    member_id: str
    campaign: str
    scope: str


class Progress(NamedTuple):
    """How many events were counted, and what the member has been given. `marks` has the times of events that a sliding
    window still may hold, `variant` the arm of the split that the member is in.
    """

    events: int = 0
    used: Amounts = NOTHING
    marks: tuple[datetime, ...] = ()
    variant: str | None = None

    def given(self, amounts: Amounts) -> "Progress":
        return self._replace(used=self.used.plus(amounts))


NONE: Final = Progress()


def count_place(campaign: Campaign, member_id: str, at: datetime) -> ProgressPlace:
    """Where the count of an event at this time is kept."""
    scope = period_of(campaign, campaign.over, at) if isinstance(campaign.over, Period) else WHOLE
    return ProgressPlace(member_id, campaign.name, scope)


def places_of(campaign: Campaign, member_id: str, at: datetime) -> Sequence[ProgressPlace]:
    """Every place that an event at this time may change."""
    places: dict[ProgressPlace, None] = {}
    if campaign.counts:
        places[count_place(campaign, member_id, at)] = None
    places |= dict.fromkeys(used_places(campaign, member_id, at).values())
    return list(places)


def used_places(campaign: Campaign, member_id: str, at: datetime) -> Mapping[Scope, ProgressPlace]:
    """Where it is kept what the member has been given."""
    places = {}
    if campaign.split or campaign.remembers or not campaign.limits.member.open:
        places[Scope.MEMBER] = ProgressPlace(member_id, campaign.name, WHOLE)
    if not campaign.limits.member_day.open:
        places[Scope.MEMBER_DAY] = ProgressPlace(member_id, campaign.name, day_of(campaign, at))
    return places


def asked_place(campaign: Campaign, member_id: str, at: datetime, side: str) -> ProgressPlace:
    """Where the value of `campaign.count`, `campaign.runs` or `campaign.points` is kept, for an event at this time."""
    if side == "campaign.count" and campaign.counts:
        return count_place(campaign, member_id, at)
    return ProgressPlace(member_id, campaign.name, WHOLE)


def told(progress: Progress, side: str) -> int:
    """The value of that side."""
    match side:
        case "campaign.runs":
            return progress.used.runs
        case "campaign.points":
            return progress.used.points
        case _:
            return progress.events


def counted(campaign: Campaign, progress: Progress, at: datetime) -> tuple[int, Progress]:
    """Which event this is, from 1 on, and the progress after it. In a sliding window the count begins anew once the
    last step is reached.
    """
    if isinstance(campaign.over, Period):
        return progress.events + 1, progress._replace(events=progress.events + 1)
    marks = list(progress.marks)
    insort(marks, at)
    count = _in_window(marks, at, campaign.over)
    last = max(step.at or step.every or 1 for step in campaign.steps)
    kept = () if count >= last else _kept(marks, campaign.over)
    return count, progress._replace(events=progress.events + 1, marks=kept)


def _in_window(marks: Sequence[datetime], at: datetime, length: timedelta) -> int:
    """The most events that any window holds which holds the one at this time: it may come late, and complete a window
    that ends after it.
    """
    ends = marks[bisect_left(marks, at) : bisect_left(marks, at + length)]
    return max(bisect_right(marks, end) - bisect_right(marks, end - length) for end in ends)


def _kept(marks: Sequence[datetime], length: timedelta) -> tuple[datetime, ...]:
    """Those to which an event may add that comes late by less than the length of the window."""
    return tuple(marks[bisect_right(marks, marks[-1] - 2 * length) :])
