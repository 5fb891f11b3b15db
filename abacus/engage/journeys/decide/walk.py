"""The walk of a member from one wait to the next: the ways that it takes, what is done, and where it stops. Pure.

Values are looked up as late as possible, as for campaigns: the walk says which one it lacks, and goes on with that.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from abacus.engage.actions.decide.deeds import Tell
from abacus.engage.journeys.decide.armed import Armed
from abacus.engage.journeys.decide.guest import Guest
from abacus.engage.journeys.decide.moments import MEMBER, by_calendar
from abacus.engage.journeys.decide.node import Branch, Do, Exit, Node, Rate, Split, Wait
from abacus.engage.journeys.decide.visit import (
    Effect,
    Left,
    Passed,
    Place,
    Stop,
    Visitor,
    Waiting,
    Why,
    Woken,
    effect_key,
    seen_of,
)
from abacus.engage.journeys.decide.waits import zone_of
from abacus.signals.events.types import Value
from abacus.signals.rules.decide.at_least import AtLeast
from abacus.signals.rules.decide.plan import Decision, Looked, RulePlan
from abacus.signals.rules.decide.types import Side

OTHERWISE: Final = "otherwise"
NOT_DONE: Final = "not done"  # a deed that is too late


class Walk:
    """One member's walk. `stop` is None until it has come to one; until then `trail` and `effects` are not complete."""

    __slots__ = (
        "_armed",
        "_exits",
        "_node",
        "_now",
        "_since",
        "_skips",
        "_tells",
        "_turn",
        "_visitor",
        "_who",
        "_woken",
        "_zone",
        "arm",
        "effects",
        "stop",
        "trail",
    )

    def __init__(
        self,
        armed: Armed,
        visitor: Visitor,
        now: datetime,
        *,
        at: Place | None = None,
        woken: Woken = Woken.ENTERED,
        skips: bool = False,
        tells: bool = True,
        who: Guest | None = None,
    ) -> None:
        """Without a place the member enters. A walk that `skips` does none of the deeds that it comes to: it is too
        late for them. A walk that does not tell what was looked at in branches is some times as quick, once all values
        are there. `who` answers what depends on the member, if the visitor does not by itself.
        """
        self._armed = armed
        self._visitor = visitor
        self._now = now
        self._skips = skips
        self._tells = tells
        self._node = armed.node(armed.journey.begin) if at is None else armed.journey.by_number[at.node]
        self._turn = 0 if at is None else at.turn
        self._since = now if at is None else at.since
        self._woken: Woken | None = None if at is None else woken  # at the node where it stands; None at the next ones
        self._zone: ZoneInfo | None = None  # whose clock says until when the member waits
        self._exits = list(armed.exits)
        self._who = who or Guest.of(visitor)
        self.arm = visitor.arm
        self.trail: list[Passed] = []
        self.effects: list[Effect] = []
        self.stop: Stop | None = None

    @property
    def looked_up(self) -> Mapping[str, Value | AtLeast | None]:
        """The values that it went by, but for the context."""
        return self._who.looked_up

    def go(self, looked_up: Mapping[str, Value | AtLeast | None]) -> Side | None:
        """Goes on by values that were looked up, by the texts of their left sides. The left side whose value it lacks,
        or None where it has come to a stop.
        """
        self._who.learn(looked_up)
        while self._exits and self.stop is None:
            decision = self._decide(self._exits[0].plan)
            if decision.wanted is not None:
                return decision.wanted
            if decision.holds:
                self.stop = Left(self._exits[0].name, None, seen_of(decision.looked))
            self._exits.pop(0)
        while self.stop is None:
            wanted = self._step()
            if wanted is not None:
                return wanted
        return None

    def _step(self) -> Side | None:
        """Through one node, or to a stop at it."""
        node = self._node
        match node.part:
            case Wait() as wait:
                return self._wait(node, wait)
            case Branch() as branch:
                return self._branch(node, branch)
            case Split() as split:
                arm = self._who.arm(split, self._armed.journey.name, node.number)
                self.arm = arm.name
                self._to(arm.next, arm.name)
            case Rate() as rate:
                if self._woken is Woken.DUE:
                    self._to(rate.next, "")
                else:
                    self._waits(None, Why.RATE)
            case Do() as do:
                return self._do(node, do)
            case Exit(reason):
                self.trail.append(Passed(node, self._turn, ""))
                self.stop = Left(reason, node)
        return None

    def _wait(self, node: Node, wait: Wait) -> Side | None:
        if wait.until_rule is not None:
            return self._until_rule(node, wait)
        if wait.until_event is not None and self._woken is Woken.EVENT:
            self._to(wait.next, "event")
            return None
        over = self._now if self._woken is Woken.DUE else self._over(wait)
        if isinstance(over, Side):
            return over
        if over <= self._now:
            self._to(wait.otherwise or wait.next, "" if wait.otherwise is None else OTHERWISE)
        elif wait.until_event is not None:
            self._waits(over, Why.EVENT)
        else:
            due = self._spoken(over) if self._speaks(wait.next) else over
            if isinstance(due, Side):
                return due
            self._waits(due, Why.TIME)
        return None

    def _over(self, wait: Wait) -> datetime | Side:
        """When the wait is over, or the left side whose value it lacks."""
        zone = self._clock(wait.zone) if by_calendar(wait.until) else self._armed.journey.zone
        return zone if isinstance(zone, Side) else self._who.over(wait.until, self._since, zone)

    def _clock(self, named: str) -> ZoneInfo | Side:
        """The zone by which the member waits, or the left side whose value it lacks."""
        own = self._who.zone() if named == MEMBER else None
        if isinstance(own, Side):
            return own
        member = ZoneInfo(own) if own is not None else None
        self._zone = zone_of(named, member=member, country=self._armed.journey.zone)
        return self._zone

    def _until_rule(self, node: Node, wait: Wait) -> Side | None:
        decision = self._decide(self._armed.conditions[node.number])
        if decision.wanted is not None:
            return decision.wanted
        if decision.holds:
            self._to(wait.next, "holds", decision.looked)
            return None
        over = self._over(wait)
        if isinstance(over, Side):
            return over
        if over <= self._now:
            self._to(wait.otherwise or wait.next, OTHERWISE, decision.looked)
        else:
            every = wait.until_rule.every if wait.until_rule is not None else None
            self._waits(over if every is None else min(over, self._now + every), Why.RULE, over)
        return None

    def _branch(self, node: Node, branch: Branch) -> Side | None:
        armed = self._armed.branches[node.number]
        if not self._tells:
            place = self._who.turnoff(armed)
            if isinstance(place, Side):
                return place
            if place is None:
                self._to(branch.otherwise, OTHERWISE)
            else:
                self._to(branch.turnoffs[place].next, str(place + 1))
            return None
        looked: list[Looked] = []
        for place, (turnoff, plan) in enumerate(zip(branch.turnoffs, armed.plans, strict=True), start=1):
            decision = self._decide(plan)
            if decision.wanted is not None:
                return decision.wanted
            looked += decision.looked
            if decision.holds:
                self._to(turnoff.next, str(place), looked)
                return None
        self._to(branch.otherwise, OTHERWISE, looked)
        return None

    def _do(self, node: Node, do: Do) -> Side | None:
        if self._skips:
            self._to(do.next, NOT_DONE)
            return None
        if isinstance(do.deed, Tell):
            later = self._spoken(self._now)
            if isinstance(later, Side):
                return later
            if later > self._now:
                self._waits(later, Why.QUIET)
                return None
        key = effect_key(self._armed.journey.name, self._visitor, node, self._turn)
        self.effects.append(Effect(key, node, self._turn, do.deed, self.arm))
        self._to(do.next, "")
        return None

    def _spoken(self, moment: datetime) -> datetime | Side:
        """When the member may be spoken to, or the left side whose value it lacks."""
        quiet = self._armed.journey.quiet_hours
        if quiet is None:
            return moment
        zone = self._clock(MEMBER)
        return zone if isinstance(zone, Side) else quiet.over_at(moment, zone)

    def _speaks(self, name: str) -> bool:
        """Whether a node is a message: a wait that only leads there is over when the message may be sent."""
        part = self._armed.node(name).part
        return isinstance(part, Do) and isinstance(part.deed, Tell)

    def _decide(self, plan: RulePlan) -> Decision:
        return self._who.decide(plan)

    def _to(self, name: str, way: str, looked: Sequence[Looked] = ()) -> None:
        self.trail.append(Passed(self._node, self._turn, way, looked))
        before, self._node = self._node, self._armed.node(name)
        if (before.number, self._node.number) in self._armed.turns:
            self._turn += 1
        self._woken, self._since, self._zone = None, self._now, None

    def _waits(self, due: datetime | None, why: Why, over: datetime | None = None) -> None:
        zone = None if self._zone is None else self._zone.key
        self.stop = Waiting(Place(self._node.number, self._turn, self._since), due, why, over or due, zone)
