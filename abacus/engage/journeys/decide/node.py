"""The nodes of a journey: what happens at each, and where it leads. Pure values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple, TypeAlias

from abacus.engage.actions.decide.deeds import Deed
from abacus.engage.journeys.decide.moments import MEMBER, NextClock, OfContext, Until
from abacus.signals.events.decide.vocabulary import EventType
from abacus.signals.events.types import Value

RuleDocument: TypeAlias = Mapping[str, object]


class Way(NamedTuple):
    """Where a node leads, and when: "otherwise", or an arm. `words` is empty where there is only one way."""

    words: str
    to: str


@dataclass(frozen=True, slots=True)
class Occasion:
    """Events of these types for which a rule holds."""

    on: tuple[EventType, ...]
    when: RuleDocument | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """A rule that is looked at anew at a pace, and after events of the member of some types."""

    when: RuleDocument
    every: timedelta | None = None
    after: tuple[EventType, ...] = ()


@dataclass(frozen=True, slots=True)
class Wait:
    """The member waits until a moment; `zone` is `member`, `country` or a name. Where it waits `until_event` or
    `until_rule` too, that leads to `next`, and the moment to `otherwise`: whichever is first.
    """

    until: Until
    next: str
    zone: str = MEMBER
    until_event: Occasion | None = None
    until_rule: Condition | None = None
    otherwise: str | None = None

    @property
    def ways(self) -> tuple[Way, ...]:
        if self.otherwise is None:
            return (Way("", self.next),)
        return Way("holds" if self.until_rule else "event", self.next), Way("otherwise", self.otherwise)

    @property
    def awaited(self) -> tuple[EventType, ...]:
        """The types of events that may end it before its time."""
        on = () if self.until_event is None else self.until_event.on
        return on if self.until_rule is None else (*on, *self.until_rule.after)

    @property
    def takes_time(self) -> bool:
        """Whether nobody is ever through at once."""
        if self.until_rule is not None or isinstance(self.until, OfContext):
            return False
        return isinstance(self.until, NextClock) or bool(self.until.span.days or self.until.span.elapsed)


@dataclass(frozen=True, slots=True)
class Turnoff:
    """Leads to a node if its rule holds."""

    when: RuleDocument
    next: str


@dataclass(frozen=True, slots=True)
class Branch:
    """The first turnoff whose rule holds is taken."""

    turnoffs: tuple[Turnoff, ...]
    otherwise: str

    @property
    def ways(self) -> tuple[Way, ...]:
        ways = (Way(str(place), each.next) for place, each in enumerate(self.turnoffs, start=1))
        return (*ways, Way("otherwise", self.otherwise))


@dataclass(frozen=True, slots=True)
class Arm:
    """An arm of a split, with its share in hundredths."""

    name: str
    share: int
    next: str


@dataclass(frozen=True, slots=True)
class Split:
    """Members are split by a hash; nothing is done for members of the arm `control`."""

    arms: tuple[Arm, ...]

    @property
    def ways(self) -> tuple[Way, ...]:
        return tuple(Way(each.name, each.next) for each in self.arms)


@dataclass(frozen=True, slots=True)
class Rate:
    """`per_minute` members go through in a minute; the others wait for their turn."""

    per_minute: int
    next: str

    @property
    def ways(self) -> tuple[Way, ...]:
        return (Way("", self.next),)


@dataclass(frozen=True, slots=True)
class Start:
    """The member enters another journey, by the API's entry. A field of its context is a constant, or what a field of
    this journey's context or of its event has, such as `context.order_id`.
    """

    journey: str
    constants: Mapping[str, Value]
    copied: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class End:
    """The member leaves another journey, in all its visits."""

    journey: str


@dataclass(frozen=True, slots=True)
class Do:
    """A deed is done for the member."""

    deed: Deed | Start | End
    next: str

    @property
    def ways(self) -> tuple[Way, ...]:
        return (Way("", self.next),)


@dataclass(frozen=True, slots=True)
class Exit:
    """The member leaves, for this reason."""

    reason: str

    @property
    def ways(self) -> tuple[Way, ...]:
        return ()


Part: TypeAlias = Wait | Branch | Split | Rate | Do | Exit


class Node(NamedTuple):
    """A node by its name. The number belongs to the name for ever, in all versions; it stands in keys. Nodes of a
    document that was never kept are numbered from 1 on.
    """

    name: str
    number: int
    part: Part
