"""Members who stand at one node go on together: one walk finds the way of all who answer alike.

Where a walk asks something of a member, there is a fork, with a way for each answer. A walk is led along each way once,
and members along the forks alone, all who know the same in one go: a member costs no more than what it is asked by
itself. Pure.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
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
    """Members who know the same, and lack the same values."""

    seats: Sequence[Seated]
    guest: Guest
    sides: tuple[Side, ...]


class _Fork(NamedTuple):
    """What a walk asks, behind the answers that lead here, and the ways from here by their answers. Members whose
    answer depends on how they came in go `singly`; where it depends on who they are, `each` is asked.
    """

    behind: tuple[_Answer, ...]
    ask: Callable[[Guest], _Answer]
    segments: tuple[Side, ...]
    ways: "dict[_Answer, _Fork | Course]"
    singly: bool
    each: bool = False

    def answers(self, seats: Sequence[Seated], guest: Guest) -> Mapping[_Answer, Sequence[Seated]]:
        """What members say who know the same."""
        if not self.each:
            return {self.ask(guest): seats}
        said: dict[_Answer, list[Seated]] = {}
        for seat in seats:
            said.setdefault(self.ask(guest.named(seat.member_id)), []).append(seat)
        return said

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

    def lead(self, seats: Sequence[Seated]) -> list[Wanting]:
        """Leads members to where they stop. Those come out who lack a value."""
        return self.lead_on(seats, Guest("", _NO_EVENT, {}))

    def lead_on(self, seats: Sequence[Seated], guest: Guest) -> list[Wanting]:
        """The same of members who know the same by now."""
        wanting = list[Wanting]()
        left: list[tuple[_Fork | Course, Sequence[Seated]]] = [(self._begin, seats)]
        while left:
            spot, some = left.pop()
            if isinstance(spot, Course):
                spot.seats.extend(some)
                spot.looked_up.extend([guest.looked_up] * len(some))
            elif spot.singly:
                self.singly.extend(some)
            else:
                for answer, alike in spot.answers(some, guest).items():
                    if isinstance(answer, Side):
                        wanting.append(Wanting(alike, guest, spot.beside(answer)))
                    else:
                        left.append((self._way(spot, answer), alike))
        return wanting

    def _way(self, fork: _Fork, answer: _Answer) -> "_Fork | Course":
        if answer not in fork.ways:
            fork.ways[answer] = found = self._find((*fork.behind, answer))
            if isinstance(found, Course):
                self.courses.append(found)
        return fork.ways[answer]

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
        arm = self._answer(lambda guest: guest.arm(split, journey, node), (), each=True)
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

    def _answer(self, ask: Callable[[Guest], _Answer], sides: Sequence[Side], *, each: bool = False) -> _Answer:
        if self._given == len(self._answers):
            singly = any(side.place not in _OF_MEMBERS_ALONE for side in sides)
            segments = {side.text: side for side in sides if side.place == SEGMENT}
            raise _Asked(_Fork(self._answers, ask, tuple(segments.values()), {}, singly=singly, each=each))
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
