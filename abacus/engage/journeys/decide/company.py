"""Members who stand at one node go on together: one walk finds the way of all who answer alike.

Where a walk asks something of a member, there is a fork, with a way for each answer. A walk is led along each way once,
and members along the forks alone: a member costs no more than its answers. Pure.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple, TypeAlias
from zoneinfo import ZoneInfo

from abacus.core.fields import EARLIEST
from abacus.engage.actions.decide.deeds import Award, FixedPoints
from abacus.engage.campaigns.decide.vocabulary import CAMPAIGN
from abacus.engage.journeys.decide.armed import Armed, ArmedBranch
from abacus.engage.journeys.decide.guest import Guest, LookedUp
from abacus.engage.journeys.decide.moments import OfContext, Until
from abacus.engage.journeys.decide.node import Arm, Split
from abacus.engage.journeys.decide.seat import Seated
from abacus.engage.journeys.decide.sides import JOURNEY, MEMBER_ZONE, ZONE
from abacus.engage.journeys.decide.visit import Place, Visitor, Waiting, Woken
from abacus.engage.journeys.decide.walk import Walk
from abacus.signals.events.types import Event
from abacus.signals.facts.decide.catalog import MEMBER, SEGMENT
from abacus.signals.rules.decide.plan import Decision, RulePlan
from abacus.signals.rules.decide.types import Side

# What these origins tell does not depend on how the member came in.
_OF_MEMBERS_ALONE: Final = frozenset({SEGMENT, MEMBER, CAMPAIGN, JOURNEY, ZONE})
_NO_EVENT: Final = Event("", "", "", None, None, EARLIEST, {})

_Answer: TypeAlias = Hashable


class Stand(NamedTuple):
    """Where members stand whose wait is over, and when they go on. Where there is a reason why deeds are `not_done`,
    nothing is done for them.
    """

    node: int
    turn: int
    arm: str | None
    now: datetime
    not_done: str | None = None


class Course(NamedTuple):
    """A way to a stop, and the members who go it, with what was looked up for each, if anything was."""

    walk: Walk
    seats: list[Seated]
    looked_up: list[LookedUp]


class Wanting(NamedTuple):
    """A member who lacks values."""

    seat: Seated
    guest: Guest
    sides: tuple[Side, ...]


class _Fork(NamedTuple):
    """What a walk asks, behind the answers that lead here, and the ways from here by their answers. Members whose
    answer depends on how they came in go `singly`.
    """

    behind: tuple[_Answer, ...]
    ask: Callable[[Guest], _Answer]
    segments: tuple[Side, ...]
    ways: "dict[_Answer, _Fork | Course]"
    singly: bool

    def beside(self, wanted: Side) -> tuple[Side, ...]:
        """What is looked up with a value: segments are in memory, and all of a question are looked at in one go."""
        return self.segments if wanted.place == SEGMENT else (wanted,)


class Company:
    """Members of a version who stand at one node. `singly` has the members who have to go by themselves."""

    def __init__(self, armed: Armed, stand: Stand) -> None:
        self._armed = armed
        self._stand = stand
        self._begin = self._find(())
        self.courses: list[Course] = []
        self.singly: list[Seated] = []
        if isinstance(self._begin, Course):
            self.courses.append(self._begin)

    def lead(self, seats: Sequence[Seated]) -> Iterator[Wanting]:
        """Leads members to where they stop. Those come out who lack a value."""
        if isinstance(self._begin, Course):
            self._begin.seats.extend(seats)
            return
        begin = self._begin
        lacking = None if begin.singly else begin.ask(Guest("", _NO_EVENT, {}))  # as everybody does at first
        if isinstance(lacking, Side):
            wanted = begin.beside(lacking)
            yield from (Wanting(each, Guest(each.member_id, _NO_EVENT, {}), wanted) for each in seats)
            return
        for each in seats:
            if (wanting := self.lead_on(each, Guest(each.member_id, _NO_EVENT, {}))) is not None:
                yield wanting

    def lead_on(self, seat: Seated, guest: Guest) -> Wanting | None:
        """The same for one of them, with what is known by now."""
        spot = self._begin
        while isinstance(spot, _Fork):
            if spot.singly:
                self.singly.append(seat)
                return None
            answer = spot.ask(guest)
            if isinstance(answer, Side):
                return Wanting(seat, guest, spot.beside(answer))
            if answer not in spot.ways:
                spot.ways[answer] = found = self._find((*spot.behind, answer))
                if isinstance(found, Course):
                    self.courses.append(found)
            spot = spot.ways[answer]
        spot.seats.append(seat)
        spot.looked_up.append(guest.looked_up)
        return None

    def _find(self, answers: tuple[_Answer, ...]) -> "_Fork | Course":
        """What a walk comes to, with these answers: a question, or a stop."""
        stand, script = self._stand, _Script(answers)
        walk = Walk(
            self._armed,
            Visitor("", 0, _NO_EVENT, {}, stand.arm),
            stand.now,
            at=Place(stand.node, stand.turn, stand.now),
            woken=Woken.DUE,
            skips=stand.not_done is not None,
            tells=False,
            who=script,
        )
        try:
            walk.go({})
        except _Asked as asked:
            return asked.fork
        return Course(walk, [], []) if _is_common(walk) else _Fork(answers, _nothing, (), {}, singly=True)


class _Asked(Exception):  # it is a question, and no error
    def __init__(self, fork: _Fork) -> None:
        self.fork = fork


class _Script(Guest):
    """Gives the answers that are written, in their order, and stops the walk at the first question behind them."""

    __slots__ = ("_answers", "_given")

    def __init__(self, answers: tuple[_Answer, ...]) -> None:
        super().__init__("", _NO_EVENT, {})
        self._answers = answers
        self._given = 0

    def decide(self, plan: RulePlan) -> Decision:
        holds = self._answer(partial(_holds, plan), plan.sides)
        return Decision(bool(holds), None, ())

    def turnoff(self, branch: ArmedBranch) -> int | None:
        sides = [side for plan in branch.plans for side in plan.sides]
        place = self._answer(lambda guest: guest.turnoff(branch), sides)
        assert place is None or isinstance(place, int)  # noqa: S101  # as the question was
        return place

    def arm(self, split: Split, journey: str, node: int) -> Arm:
        arm = self._answer(lambda guest: guest.arm(split, journey, node), ())
        assert isinstance(arm, Arm)  # noqa: S101  # the same
        return arm

    def zone(self) -> str | None:
        zone = self._answer(Guest.zone, (MEMBER_ZONE,))
        assert zone is None or isinstance(zone, str)  # noqa: S101  # the same
        return zone

    def over(self, until: Until, since: datetime, zone: ZoneInfo) -> datetime:
        if isinstance(until, OfContext):
            raise _Asked(_Fork(self._answers, _nothing, (), {}, singly=True))
        return super().over(until, since, zone)

    def _answer(self, ask: Callable[[Guest], _Answer], sides: Sequence[Side]) -> _Answer:
        if self._given == len(self._answers):
            singly = any(side.place not in _OF_MEMBERS_ALONE for side in sides)
            segments = {side.text: side for side in sides if side.place == SEGMENT}
            raise _Asked(_Fork(self._answers, ask, tuple(segments.values()), {}, singly=singly))
        answer = self._answers[self._given]
        self._given += 1
        return answer


def _holds(plan: RulePlan, guest: Guest) -> _Answer:
    decision = guest.decide(plan)
    return bool(decision.holds) if decision.wanted is None else decision.wanted


def _nothing(_: Guest) -> _Answer:
    return None


def _is_common(walk: Walk) -> bool:
    """Whether what comes of a walk is the same for all: nobody waits for a turn of its own, and no points follow from
    the event by which a member came in.
    """
    if isinstance(walk.stop, Waiting) and walk.stop.due is None:
        return False
    awards = (each.deed for each in walk.effects if isinstance(each.deed, Award))
    return all(isinstance(each.worth, FixedPoints) for each in awards)
