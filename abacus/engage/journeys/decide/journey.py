"""A journey: who enters, the nodes that members go along, and when they leave. Pure values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import ClassVar, Final

from abacus.core.fields import EARLIEST
from abacus.core.local_clock import QuietHours
from abacus.documents.decide.heading import NAME_PATTERN
from abacus.documents.decide.version_words import Labels
from abacus.engage.journeys.decide.entry import ONCE, Entry, ReEntry
from abacus.engage.journeys.decide.node import Node, Occasion, RuleDocument, Wait
from abacus.engage.limits.types import OwnerVersion
from abacus.signals.events.decide.vocabulary import EventType
from abacus.signals.events.types import VariableType

OWNER_KIND: Final = "journey"  # of the actions of journeys
CONTROL: Final = "control"  # the arm of a split in which nothing is done
LABELS: Final = Labels("journey", NAME_PATTERN, "welcome")


class AtEnd(StrEnum):
    """What becomes of members who are inside when the journey ends."""

    FINISH = "finish"
    STOP = "stop"


class Late(StrEnum):
    """What becomes of what fell due while the journey was paused."""

    RUN = "run"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Lateness:
    """What becomes of what falls due while the journey is paused, and of what is later than `not_later_than`: the
    member goes on, and what is skipped is not done.
    """

    late: Late = Late.RUN
    not_later_than: timedelta | None = None


AS_IT_COMES: Final = Lateness()


@dataclass(frozen=True, slots=True)
class Leaving:
    """Members leave at any time: by an event for which the rule holds, or where there are no events, if the rule holds
    when they are looked at.
    """

    name: str
    when: RuleDocument | None
    on: tuple[EventType, ...] = ()


@dataclass(frozen=True, slots=True)
class Goal:
    """What counts as a conversion in the report: such an event, so long after the entry at most."""

    occasion: Occasion
    within: timedelta


@dataclass(frozen=True)
class Journey(OwnerVersion):
    """A journey, which never changes once it was submitted: a change is another version. A draft that is nowhere yet
    has the version 0.

    `begin` is the name of the first node. `context` has the types of the fields that the API gives; `languages` are
    those that every message has. `kind` is that of its messages, for caps that all journeys and campaigns share.
    """

    name: str
    country: str
    timezone: str
    starts_at: datetime
    ends_at: datetime
    entry: Entry
    begin: str
    nodes: Mapping[str, Node]
    context: Mapping[str, VariableType] = field(default_factory=dict)
    exits: tuple[Leaving, ...] = ()
    goal: Goal | None = None
    re_entry: ReEntry = ONCE
    at_end: AtEnd = AtEnd.FINISH
    lateness: Lateness = AS_IT_COMES
    quiet_hours: QuietHours | None = None
    languages: tuple[str, ...] = ("en",)
    kind: str = "marketing"
    priority: int = 0
    about: str = ""
    version: int = 0
    approved_at: datetime = EARLIEST

    owner_kind: ClassVar[str] = OWNER_KIND
    __hash__ = OwnerVersion.__hash__

    @cached_property
    def by_number(self) -> Mapping[int, Node]:
        """The nodes by their numbers."""
        return {node.number: node for node in self.nodes.values()}

    @property
    def awaited(self) -> frozenset[EventType]:
        """The types of events for which members wait at some node, or after which a rule there is looked at anew."""
        waits = [node.part for node in self.nodes.values() if isinstance(node.part, Wait)]
        return frozenset(type_ for each in waits for type_ in each.awaited)

    @property
    def heard(self) -> frozenset[EventType]:
        """The types of events that move members who are inside: what they wait for, and by which they leave."""
        return self.awaited | {each for leaving in self.exits for each in leaving.on}

    def numbered(self, version: int, numbers: Mapping[str, int]) -> "Journey":
        """The version, with the number of each node that has one; the others are numbered behind these."""
        highest = max(numbers.values(), default=0)
        new = iter(range(highest + 1, highest + 1 + len(self.nodes)))
        nodes = {
            name: node._replace(number=numbers[name] if name in numbers else next(new))
            for name, node in sorted(self.nodes.items())
        }
        return replace(self, version=version, nodes=nodes)
