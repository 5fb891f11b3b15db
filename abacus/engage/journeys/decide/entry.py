"""How members enter a journey, and how often. Pure values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeAlias

from abacus.engage.campaigns.decide.cycles import EARNED
from abacus.engage.journeys.decide.moments import NO_TIME, Span
from abacus.engage.journeys.decide.node import RuleDocument
from abacus.signals.events.decide.vocabulary import EventType
from abacus.signals.events.types import VariableType


@dataclass(frozen=True, slots=True)
class OnEvent:
    """Members enter by their events of these types."""

    on: tuple[EventType, ...]


@dataclass(frozen=True, slots=True)
class OfSegment:
    """Members of a segment enter `at` a time, or when the journey begins. If asked, members who join later enter when
    they do.
    """

    segment: str
    at: datetime | None = None
    and_later: bool = False


class LifeMoment(StrEnum):
    """A point in a member's life."""

    POINTS_EXPIRING = "points.expiring"
    TIER_CHANGED = "tier.changed"
    FIRST_AWARD = "first.award"


# The events that such points are. Points that expire are no event: a look at the calendar finds them.
LIFE_EVENTS: Final[Mapping[LifeMoment, EventType]] = {
    LifeMoment.TIER_CHANGED: ("tiers", "abacus.tier.changed.v1"),
    LifeMoment.FIRST_AWARD: EARNED,
}
# What members bring along whose points expire: how many, and when.
EXPIRING: Final[Mapping[str, VariableType]] = {"points": VariableType.INTEGER, "expires_at": VariableType.TIME}


@dataclass(frozen=True, slots=True)
class OfLife:
    """Members enter at a point in their lives: `days` before points expire, or at once."""

    moment: LifeMoment
    days: int = 0

    @property
    def on(self) -> tuple[EventType, ...]:
        """The events that it is found by."""
        return (LIFE_EVENTS[self.moment],) if self.moment in LIFE_EVENTS else ()


@dataclass(frozen=True, slots=True)
class ByCall:
    """Members enter by the API, and by other journeys."""


How: TypeAlias = OnEvent | OfSegment | OfLife | ByCall


@dataclass(frozen=True, slots=True)
class Entry:
    """How members enter, and the rule that has to hold for them then."""

    how: How
    when: RuleDocument | None = None

    @property
    def on(self) -> tuple[EventType, ...]:
        """The types of events by which members enter; none where they enter by no event."""
        match self.how:
            case OnEvent(on):
                return on
            case OfLife():
                return self.how.on
            case _:
                return ()


class Again(StrEnum):
    """When a member may enter again."""

    NEVER = "never"
    AFTER_LEAVING = "after_leaving"
    AFTER = "after"  # some time after the last entry, and after leaving
    EACH = "each"  # one visit at once for each value of a variable


@dataclass(frozen=True, slots=True)
class ReEntry:
    """When a member may enter again, and how many visits it may have, in all and `at_once`. `span` is of `AFTER`,
    `side` of `EACH`: `var.order_id` or `context.order_id`.
    """

    again: Again = Again.NEVER
    at_most: int = 1
    at_once: int = 1
    span: Span = NO_TIME
    side: str | None = None


ONCE: Final = ReEntry()
