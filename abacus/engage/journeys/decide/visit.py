"""A member in a journey: what is known of it, where it stands, and what comes of a walk. Pure values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from abacus.core.ids import journey_effect_key
from abacus.engage.actions.decide.deeds import Deed
from abacus.engage.campaigns.decide.conditions import condition_text, value_text
from abacus.engage.journeys.decide.node import End, Node, Start
from abacus.signals.events.types import Event, Value
from abacus.signals.rules.decide.plan import Looked


@dataclass(frozen=True, slots=True)
class Visitor:
    """A member in its visit to a journey. `facts` is the event by which it entered; without one, an event with the
    member, the country and the time alone. `arm` is the arm of the last split.
    """

    member_id: str
    visit: int
    facts: Event
    context: Mapping[str, Value]
    arm: str | None = None


class Place(NamedTuple):
    """Where a member stands: the number of the node, how often it has come round a loop, and since when."""

    node: int
    turn: int
    since: datetime


class Woken(StrEnum):
    """Why a member is looked at."""

    ENTERED = "entered"
    DUE = "due"  # its time has come
    EVENT = "event"  # an event came for which it waited
    MOVED = "moved"  # it was moved to another version


class Why(StrEnum):
    """What a member waits for."""

    TIME = "time"
    EVENT = "event"  # or a time
    RULE = "rule"  # to be looked at anew, or a time
    QUIET = "quiet"  # for the end of quiet hours
    RATE = "rate"  # for its turn


class Seen(NamedTuple):
    """A condition that was looked at, the value of its left side in words, and whether it holds."""

    condition: str
    value: str
    holds: bool


def seen_of(looked: Iterable[Looked]) -> tuple[Seen, ...]:
    """What was looked at, in words."""
    return tuple(Seen(condition_text(each.condition), value_text(each.value), each.holds) for each in looked)


class Passed(NamedTuple):
    """A node through which a member went, the way that it took, and what was looked at for that."""

    node: Node
    turn: int
    way: str
    looked: Sequence[Looked] = ()

    @property
    def seen(self) -> tuple[Seen, ...]:
        """What was looked at, in words."""
        return seen_of(self.looked)


class Waiting(NamedTuple):
    """A member waits at a node, and is looked at when it is `due`, which is None where its turn is not known yet. A
    rule may be looked at several times before the wait is `over`. `zone` is there where its clock says when.
    """

    place: Place
    due: datetime | None
    why: Why
    over: datetime | None
    zone: str | None = None


class Left(NamedTuple):
    """A member leaves, for a reason: at a node, or by an exit at any time."""

    reason: str
    node: Node | None
    seen: tuple[Seen, ...] = ()


Stop: TypeAlias = Waiting | Left


class Effect(NamedTuple):
    """A deed that is to be done for a member, under a key that no other deed has."""

    key: str
    node: Node
    turn: int
    deed: Deed | Start | End
    arm: str | None


def effect_key(journey: str, visitor: Visitor, node: Node, turn: int) -> str:
    """The version is no part of it: who is moved to another version meets no deed twice."""
    return journey_effect_key(journey, visitor.visit, visitor.member_id, node.number, turn)
