"""Decides many rules at once, with few look-ups: what they want of the cheapest origin is loaded in one call."""

from collections.abc import Sequence
from typing import Generic, NamedTuple

from abacus.signals.events.types import Value
from abacus.signals.facts.types import NOT_NOW, FactRegistry, SubjectT
from abacus.signals.rules.decide.at_least import AtLeast
from abacus.signals.rules.decide.plan import Decision, RulePlan
from abacus.signals.rules.decide.types import Origin, Side


class Question(NamedTuple, Generic[SubjectT]):
    """Whether a rule holds for a subject."""

    subject: SubjectT
    plan: RulePlan


async def decide_all(questions: Sequence[Question[SubjectT]], registry: FactRegistry[SubjectT]) -> list[Decision]:
    """A decision for each question. Each round asks one origin, the cheapest that a question waits for. A question
    whose value cannot be told now stays undecided, and its decision says what it wants; a question that depends on how
    far a value has risen stays open.
    """
    known: list[dict[str, Value | AtLeast | None]] = [{} for _ in questions]
    decisions = [question.plan.decide(question.subject.facts, {}) for question in questions]
    waiting = [place for place, decision in enumerate(decisions) if decision.wanted is not None]
    while waiting:
        origins = {place: _origin(decisions[place]) for place in waiting}
        cheapest = min(origins.values(), key=lambda origin: origin.cost)
        now = [place for place in waiting if origins[place] == cheapest]
        wishes = [(questions[place].subject, _wanted(decisions[place])) for place in now]
        given_up = set()
        for place, value in zip(now, await registry.load(cheapest, wishes), strict=True):
            if value is NOT_NOW:
                given_up.add(place)
                continue
            known[place][_wanted(decisions[place]).text] = value
            decisions[place] = questions[place].plan.decide(questions[place].subject.facts, known[place])
        waiting = [place for place in waiting if place not in given_up and decisions[place].wanted is not None]
    return decisions


def _wanted(decision: Decision) -> Side:
    assert decision.wanted is not None  # noqa: S101  # a question that wants nothing does not wait
    return decision.wanted


def _origin(decision: Decision) -> Origin:
    place = _wanted(decision).place
    assert isinstance(place, Origin)  # noqa: S101  # a plan wants nothing that the facts themselves tell
    return place
