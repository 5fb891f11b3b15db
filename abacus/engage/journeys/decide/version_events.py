"""The events that a version of a journey asks for. Pure. It is small, and known of every version that runs; the version
itself is read when a member on it goes on.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from abacus.core.clock import CLOCKS_DIFFER_BY
from abacus.engage.journeys.decide.journey import Journey
from abacus.signals.events.decide.vocabulary import EventType
from abacus.signals.events.types import Event

_NONE: Final[frozenset[EventType]] = frozenset()


class VersionEvents(NamedTuple):
    """Types of events: members enter `on` them, they are `awaited` at some node, they are `moving` whoever is inside,
    and they may be the `goal`, `within` so long after the entry.
    """

    name: str
    version: int
    zone: ZoneInfo
    approved_at: datetime
    on: frozenset[EventType]
    awaited: frozenset[EventType]
    moving: frozenset[EventType]
    goal: frozenset[EventType] = _NONE
    within: timedelta = timedelta()

    @property
    def place(self) -> tuple[str, int]:
        return self.name, self.version


def events_of(journey: Journey) -> VersionEvents:
    goal, awaited = journey.goal, journey.awaited
    return VersionEvents(
        journey.name,
        journey.version,
        journey.zone,
        journey.approved_at,
        frozenset(journey.entry.on),
        awaited,
        awaited | {type_ for each in journey.exits for type_ in each.on},
        _NONE if goal is None else frozenset(goal.occasion.on),
        timedelta() if goal is None else goal.within,
    )


def first_entries(events: Iterable[Event], versions: Collection[VersionEvents]) -> Mapping[tuple[str, str], datetime]:
    """Since when visits may have begun of which these events are the goal, by member and journey. A visit has the time
    at which it was written, which is not before that of its event but by as much as clocks differ.
    """
    since: dict[tuple[str, str], datetime] = {}
    for event in events:
        for version in versions:
            if (event.source, event.type) in version.goal:
                place = event.member_id or "", version.name
                first = event.occurred_at - version.within - 2 * CLOCKS_DIFFER_BY
                since[place] = min(first, since.get(place, first))
    return since
