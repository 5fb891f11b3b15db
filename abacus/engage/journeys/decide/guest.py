"""What a walk asks of a member: everything that another member may answer otherwise. Pure."""

from collections.abc import Mapping
from datetime import datetime
from itertools import islice
from typing import TypeAlias
from zoneinfo import ZoneInfo

from abacus.engage.journeys.decide.armed import ArmedBranch
from abacus.engage.journeys.decide.moments import Until
from abacus.engage.journeys.decide.node import Arm, Split
from abacus.engage.journeys.decide.sides import CONTEXT, MEMBER_ZONE
from abacus.engage.journeys.decide.split import arm_of
from abacus.engage.journeys.decide.visit import Visitor
from abacus.engage.journeys.decide.waits import over_at
from abacus.signals.events.types import Event, Value
from abacus.signals.rules.decide.at_least import AtLeast
from abacus.signals.rules.decide.plan import Decision, RulePlan
from abacus.signals.rules.decide.types import Side

LookedUp: TypeAlias = Mapping[str, Value | AtLeast | None]


class Guest:
    """A member with the event and the context by which it entered, and with what was looked up since. Where a value is
    wanting, the answer is its left side.
    """

    __slots__ = ("_context", "_facts", "_known", "_member_id")

    def __init__(self, member_id: str, facts: Event, context: Mapping[str, Value]) -> None:
        self._member_id = member_id
        self._facts = facts
        self._context = context
        self._known: dict[str, Value | AtLeast | None] = {
            f"{CONTEXT.name}.{name}": value for name, value in context.items()
        }

    @classmethod
    def of(cls, visitor: Visitor) -> "Guest":
        return cls(visitor.member_id, visitor.facts, visitor.context)

    def learn(self, looked_up: LookedUp) -> None:
        """Values that were looked up, by the texts of their left sides."""
        self._known.update(looked_up)

    def learned(self, looked_up: LookedUp) -> "Guest":
        """Somebody who knows these values too."""
        other = self.named(self._member_id)
        other._known = {**self._known, **looked_up}  # noqa: SLF001  # of its own kind
        return other

    def named(self, member_id: str) -> "Guest":
        """The member of this id, who knows the same: what one learns, the other knows."""
        other = Guest(member_id, self._facts, {})
        other._context, other._known = self._context, self._known  # the same
        return other

    @property
    def looked_up(self) -> LookedUp:
        """What was looked up, by the texts of the left sides; the context was there before."""
        given = len(self._context)
        return self._known if not given else dict(islice(self._known.items(), given, None))

    def decide(self, plan: RulePlan) -> Decision:
        return plan.decide(self._facts, self._known)

    def turnoff(self, branch: ArmedBranch) -> int | Side | None:
        """The place of the first rule that holds, if any does. No rule behind it is looked at."""
        if branch.needs <= self._known.keys():
            return branch.taken(self._facts, self._known)
        for place, plan in enumerate(branch.plans):
            decision = plan.decide(self._facts, self._known)
            if decision.wanted is not None:
                return decision.wanted
            if decision.holds:
                return place
        return None

    def arm(self, split: Split, journey: str, node: int) -> Arm:
        return arm_of(split, journey, node, self._member_id)

    def zone(self) -> str | Side | None:
        """The zone that the member has named."""
        if MEMBER_ZONE.text not in self._known:
            return MEMBER_ZONE
        own = self._known[MEMBER_ZONE.text]
        return own if isinstance(own, str) else None

    def over(self, until: Until, since: datetime, zone: ZoneInfo) -> datetime:
        """When a wait is over that the member came to then."""
        return over_at(until, since, zone, self._context)
