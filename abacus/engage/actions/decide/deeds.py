"""What is done for a member, when it is done, and what still has to hold then. Pure values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import TypeAlias
from zoneinfo import ZoneInfo

from abacus.pricing.explanation.types import FactorName
from abacus.signals.events.decide.vocabulary import EventType
from abacus.signals.events.types import Value


class DeedKind(StrEnum):
    """The kinds of actions. The list is closed: queues of actions, metrics and reports go by it."""

    AWARD = "award"
    TELL = "tell"
    CALL = "call"
    PUBLISH = "publish"
    GRANT = "grant"


@dataclass(frozen=True, slots=True)
class FixedPoints:
    """A fixed number of points."""

    points: int


@dataclass(frozen=True, slots=True)
class MultipleOfEarned:
    """A multiple of what the transaction earned by the country's card, beside that."""

    multiple: Decimal


@dataclass(frozen=True, slots=True)
class OwnFormula:
    """The points of the formula with own multipliers; a factor that is not named here is the card's."""

    factors: Mapping[FactorName, Decimal]


@dataclass(frozen=True, slots=True)
class Award:
    """Points for the member."""

    worth: FixedPoints | MultipleOfEarned | OwnFormula

    kind = DeedKind.AWARD

    @property
    def least_points(self) -> int:
        """The points that are given for sure: 1 where they follow from the transaction."""
        return self.worth.points if isinstance(self.worth, FixedPoints) else 1


@dataclass(frozen=True, slots=True)
class Tell:
    """A message to the member, as a template in each locale; one is English."""

    templates: Mapping[str, str]

    kind = DeedKind.TELL


@dataclass(frozen=True, slots=True)
class Call:
    """A message to a webhook that the operators have named."""

    webhook: str

    kind = DeedKind.CALL


@dataclass(frozen=True, slots=True)
class Publish:
    """An event of ours. A variable is a constant, or the name of one of the event's variables."""

    type: EventType
    constants: Mapping[str, Value]
    copied: Mapping[str, str]

    kind = DeedKind.PUBLISH


class Granted(StrEnum):
    """What may be granted."""

    OFFER = "offer"  # an invitation to it
    REWARD = "reward"  # without points


@dataclass(frozen=True, slots=True)
class Grant:
    """An offer or a reward for the member, by its name."""

    what: Granted
    name: str

    kind = DeedKind.GRANT


Deed: TypeAlias = Award | Tell | Call | Publish | Grant


@dataclass(frozen=True, slots=True)
class Action:
    """A deed and its time: at once, some time after it was decided, or when the clock of a zone next shows an hour.
    `unless` and `if_still` are documents of rules, which are looked at then.
    """

    deed: Deed
    after: timedelta | None = None
    at: time | None = None
    unless: Mapping[str, object] | None = None
    if_still: Mapping[str, object] | None = None

    @property
    def guards(self) -> tuple[Mapping[str, object], ...]:
        return tuple(rule for rule in (self.unless, self.if_still) if rule is not None)

    def due(self, decided_at: datetime, zone: ZoneInfo) -> datetime:
        """When it is to be done."""
        if self.after is not None:
            return decided_at + self.after
        if self.at is None:
            return decided_at
        local = decided_at.astimezone(zone)
        today = datetime.combine(local.date(), self.at, zone)
        if today.timestamp() > decided_at.timestamp():
            return today.astimezone(decided_at.tzinfo)
        return datetime.combine(local.date() + timedelta(days=1), self.at, zone).astimezone(decided_at.tzinfo)
