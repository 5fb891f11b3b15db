"""Many rules are decided by few calls: what they want of one origin is loaded together, the cheapest origin first."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from abacus.signals.events.types import Event, Value, VariableType
from abacus.signals.facts.rounds import Question, decide_all
from abacus.signals.facts.types import FactRegistry, Wish
from abacus.signals.rules.decide.plan import RulePlan
from abacus.signals.rules.decide.types import (
    AllOf,
    AnyOf,
    Condition,
    Operator,
    Origin,
    Rule,
)
from abacus.signals.rules.decide.types import (
    looked_up as looked_up_side,
)
from tests.signals.rules.any_rules import LOOKED_UP, looked_up, rules, variables
from tests.signals.rules.orders import order
from tests.signals.rules.plain import holds

DATABASE, EXTERNAL = Origin("database", cost=1), Origin("external", cost=2)


class Numbered(NamedTuple):
    """The subject of the numbered rule."""

    number: int
    facts: Event


class Counted:
    """Counts its calls, and the values that were asked of it."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.calls = 0
        self.values = 0

    async def load(self, wanted: Sequence[Wish[Numbered]]) -> Sequence[Value | None]:
        self.calls += 1
        self.values += len(wanted)
        return [hash((subject.number, side.text)) % 3 == 0 for subject, side in wanted]


def is_true(origin: Origin, name: str) -> Condition:
    return Condition(Operator.EQ, looked_up_side(origin, f"{origin.name}.{name}", VariableType.BOOLEAN), rhs=True)


async def test_many_rules_are_decided_by_few_calls() -> None:
    """A thousand rules of six conditions each: as many rounds as one rule has conditions, not as many calls."""
    rule = AnyOf(tuple(AllOf((is_true(DATABASE, each), is_true(EXTERNAL, each))) for each in "abc"))
    database, external = Counted(DATABASE), Counted(EXTERNAL)
    plan = RulePlan(rule)
    questions = [Question(Numbered(number, order()), plan) for number in range(1000)]
    decisions = await decide_all(questions, FactRegistry(external, database))
    assert database.calls <= 3
    assert external.calls <= 3
    assert database.values <= 3000
    assert external.values < 1500  # of 3000: the database has ruled out the rest
    names = [f"{origin.name}.{each}" for origin in (DATABASE, EXTERNAL) for each in "abc"]
    eager = [{name: hash((number, name)) % 3 == 0 for name in names} for number in range(1000)]
    assert [decision.holds for decision in decisions] == [holds(rule, order(), values) for values in eager]


@given(st.lists(st.tuples(rules, variables, looked_up), max_size=8))
async def test_together_they_are_decided_as_alone(cases: Sequence[tuple[Rule, Any, Any]]) -> None:
    class Tiers(Counted):
        async def load(self, wanted: Sequence[Wish[Numbered]]) -> Sequence[Value | None]:
            return [cases[subject.number][2].get("member.tier") for subject, _ in wanted]

    assert isinstance(LOOKED_UP.place, Origin)
    questions = [
        Question(Numbered(number, order(values)), RulePlan(rule)) for number, (rule, values, _) in enumerate(cases)
    ]
    decisions = await decide_all(questions, FactRegistry(Tiers(LOOKED_UP.place)))
    assert [decision.holds for decision in decisions] == [
        holds(rule, order(values), found) for rule, values, found in cases
    ]
