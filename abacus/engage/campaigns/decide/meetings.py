"""Where campaigns meet: they answer to the same events of a country at the same time. Pure."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import combinations
from typing import Final, NamedTuple

from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.signals.events.decide.vocabulary import EventType

_WEEK: Final = 7


class Meeting(NamedTuple):
    """Two campaigns, the types of events that both answer to, and the time in which both run. Of an exclusive `group`
    only one of them runs for an event.
    """

    first: Campaign
    second: Campaign
    on: tuple[EventType, ...]
    since: datetime
    until: datetime
    group: str | None


def meetings(campaigns: Iterable[Campaign]) -> list[Meeting]:
    """By the time from which both run. Versions of one campaign never meet: one takes the place of the other."""
    pairs = combinations(sorted(campaigns, key=lambda each: (each.country, each.name, each.version)), 2)
    met = [each for first, second in pairs if (each := _met(first, second)) is not None]
    return sorted(met, key=lambda each: (each.since, each.first.name, each.second.name))


def meetings_of(campaign: Campaign, others: Iterable[Campaign]) -> list[Meeting]:
    """Those of one campaign, which stands first in each."""
    met = [each for other in others if (each := _met(campaign, other)) is not None]
    return sorted(met, key=lambda each: (each.since, each.second.name))


def _met(first: Campaign, second: Campaign) -> Meeting | None:
    on = tuple(each for each in first.on if each in second.on)
    since, until = max(first.starts_at, second.starts_at), min(first.ends_at, second.ends_at)
    if first.name == second.name or first.country != second.country or not on or since >= until:
        return None
    if not _share_days(first, second, since, until) or not _share_hours(first, second):
        return None
    group = first.exclusive if first.exclusive == second.exclusive else None
    return Meeting(first, second, on, since, until, group)


def _share_days(first: Campaign, second: Campaign, since: datetime, until: datetime) -> bool:
    """Whether both run on one of the days between."""
    return any(
        day in (first.weekdays or {day}) and day in (second.weekdays or {day})
        for day in _weekdays(since.astimezone(first.zone), until.astimezone(first.zone))
    )


def _weekdays(since: datetime, until: datetime) -> Iterator[int]:
    last = (until - timedelta.resolution).date()
    for more in range(_WEEK):
        day = since.date() + timedelta(days=more)
        if day <= last:
            yield day.weekday()


def _share_hours(first: Campaign, second: Campaign) -> bool:
    """By the clocks of two zones, hours may be the same at any time."""
    if not first.hours or not second.hours or first.timezone != second.timezone:
        return True
    return any(begin < to and from_ < end for begin, end in first.hours for from_, to in second.hours)
