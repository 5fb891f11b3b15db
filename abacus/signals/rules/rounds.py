"""Decides many rules at once, with few look-ups: what they want of the cheapest source is loaded in one call."""

from collections.abc import Sequence
from enum import Enum
from typing import Final, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from abacus.signals.events.types import Event, Value
from abacus.signals.rules.decide.at_least import AtLeast
from abacus.signals.rules.decide.plan import Decision, Plan
from abacus.signals.rules.decide.types import Side

SubjectT = TypeVar("SubjectT")
SubjectT_contra = TypeVar("SubjectT_contra", contravariant=True)


class _Told(Enum):
    NOT_NOW = "not now"


# Instead of a value: it cannot be told now, and may be later.
NotNow: TypeAlias = Literal[_Told.NOT_NOW]
NOT_NOW: Final = _Told.NOT_NOW


class Question(NamedTuple, Generic[SubjectT]):
    """Whether a rule holds for an event. `subject` tells the loader for whom a value is wanted."""

    subject: SubjectT
    event: Event
    plan: Plan


class Sources(Protocol[SubjectT_contra]):
    """Where values come from."""

    def rank(self, side: Side) -> int:
        """The source of a left side; a lower one is cheaper."""
        ...

    async def load(
        self, rank: int, wanted: Sequence[tuple[SubjectT_contra, Event, Side]]
    ) -> Sequence[Value | AtLeast | NotNow | None]:
        """The values, in the order of the wishes, all of one source."""
        ...


async def decide_all(questions: Sequence[Question[SubjectT]], sources: Sources[SubjectT]) -> list[Decision]:
    """A decision for each question. Each round asks one source, the cheapest that somebody waits for. A question whose
    value cannot be told now stays undecided, and its decision says what it wants; one that depends on how far a value
    has risen stays open.
    """
    known: list[dict[str, Value | AtLeast | None]] = [{} for _ in questions]
    decisions = [question.plan.decide(question.event, {}) for question in questions]
    waiting = [place for place, decision in enumerate(decisions) if decision.wanted is not None]
    while waiting:
        ranks = {place: sources.rank(_wanted(decisions[place])) for place in waiting}
        cheapest = min(ranks.values())
        now = [place for place in waiting if ranks[place] == cheapest]
        wishes = [(questions[place].subject, questions[place].event, _wanted(decisions[place])) for place in now]
        given_up = set()
        for place, value in zip(now, await sources.load(cheapest, wishes), strict=True):
            if value is NOT_NOW:
                given_up.add(place)
                continue
            known[place][_wanted(decisions[place]).text] = value
            decisions[place] = questions[place].plan.decide(questions[place].event, known[place])
        waiting = [place for place in waiting if place not in given_up and decisions[place].wanted is not None]
    return decisions


def _wanted(decision: Decision) -> Side:
    assert decision.wanted is not None  # noqa: S101  # only those are waiting that want something
    return decision.wanted
