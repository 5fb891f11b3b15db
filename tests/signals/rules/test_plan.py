"""A rule is decided by the cheapest conditions that matter, and by few calls for many rules."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.signals.events.types import Event, Value, VariableType
from abacus.signals.rules.decide.plan import Plan
from abacus.signals.rules.decide.types import AllOf, AnyOf, Condition, Not, Operator, Place, Rule, Side
from abacus.signals.rules.rounds import Question, decide_all
from tests.signals.rules.any_rules import looked_up, rules, variables
from tests.signals.rules.orders import order
from tests.signals.rules.plain import holds

GOLDEN = Path(__file__).parents[2] / "golden" / "rules.json"


def is_true(name: str) -> Condition:
    return Condition(Operator.EQ, Side(name, VariableType.BOOLEAN, Place.LOOKED_UP, name), rhs=True)


def rule_of(document: Any) -> Rule:
    if isinstance(document, str):
        return is_true(document)
    operator, *inner = document
    parts = tuple(map(rule_of, inner))
    groups: Mapping[str, Rule] = {"and": AllOf(parts), "or": AnyOf(parts), "not": Not(parts[0])}
    return groups[operator]


@pytest.mark.parametrize("case", json.loads(GOLDEN.read_text())["cases"], ids=lambda case: case["name"])
def test_golden(case: Mapping[str, Any]) -> None:
    plan = Plan(rule_of(case["rule"]), lambda side: case["cheapest_first"].index(side.text))
    known: dict[str, Value | None] = {}
    while (decision := plan.decide(order(), known)).wanted is not None:
        known[decision.wanted.text] = case["values"][decision.wanted.text]
    assert list(known) == case["order"]
    assert [looked.condition.lhs.text for looked in decision.looked] == case["order"]
    assert decision.holds is case["result"]


@given(rules, variables, looked_up)
def test_it_decides_as_a_plain_evaluator(rule: Rule, values: dict[str, Value], found: dict[str, Value]) -> None:
    """Memory first; what was looked at is enough to know the outcome, whatever the other values are."""
    event = order(values)
    decision = Plan(rule, lambda _: 1).decide(event, {"member.tier": found.get("member.tier")})
    assert decision.holds is holds(rule, event, found)
    first = Plan(rule, lambda _: 1).decide(event, {})
    assert all(looked.condition.lhs.place is not Place.LOOKED_UP for looked in first.looked)
    if first.wanted is None:
        assert {holds(rule, event, {}), holds(rule, event, {"member.tier": "a"})} == {first.holds}


class Counted:
    """Two sources that count their calls and the values that were asked of them."""

    def __init__(self) -> None:
        self.calls: Counter[int] = Counter()
        self.values: Counter[int] = Counter()

    def rank(self, side: Side) -> int:
        return 1 if side.text.startswith("database") else 2

    async def load(self, rank: int, wanted: Sequence[tuple[int, Event, Side]]) -> Sequence[Value | None]:
        self.calls[rank] += 1
        self.values[rank] += len(wanted)
        return [hash((subject, side.text)) % 3 == 0 for subject, _, side in wanted]


async def test_many_rules_are_decided_by_few_calls() -> None:
    """A thousand rules of six conditions each: as many rounds as one rule has conditions, not as many calls."""
    names = [f"{source}.{letter}" for source in ("database", "external") for letter in "abc"]
    rule = AnyOf(
        (
            AllOf((is_true(names[0]), is_true(names[3]))),
            AllOf((is_true(names[1]), is_true(names[4]))),
            AllOf((is_true(names[2]), is_true(names[5]))),
        )
    )
    sources = Counted()
    plan = Plan(rule, sources.rank)
    decisions = await decide_all([Question(number, order(), plan) for number in range(1000)], sources)
    assert sources.calls[1] <= 3
    assert sources.calls[2] <= 3
    assert sources.values[1] <= 3000
    assert sources.values[2] < 1500  # of 3000: the database has ruled out the rest
    eager = {number: {name: hash((number, name)) % 3 == 0 for name in names} for number in range(1000)}
    assert [decision.holds for decision in decisions] == [holds(rule, order(), values) for values in eager.values()]


@given(st.lists(st.tuples(rules, variables, looked_up), max_size=8))
async def test_together_they_are_decided_as_alone(cases: Sequence[tuple[Rule, Any, Any]]) -> None:
    class Tiers(Counted):
        async def load(self, rank: int, wanted: Sequence[tuple[int, Event, Side]]) -> Sequence[Value | None]:
            assert rank == 2
            return [cases[subject][2].get("member.tier") for subject, _, _ in wanted]

    questions = [
        Question(number, order(values), Plan(rule, lambda _: 1)) for number, (rule, values, _) in enumerate(cases)
    ]
    decisions = await decide_all(questions, Tiers())
    assert [decision.holds for decision in decisions] == [
        holds(rule, order(values), found) for rule, values, found in cases
    ]
