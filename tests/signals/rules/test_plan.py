"""A rule is decided by the cheapest conditions that matter."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from abacus.signals.events.types import Value, VariableType
from abacus.signals.rules.decide.plan import RulePlan
from abacus.signals.rules.decide.types import (
    AllOf,
    AnyOf,
    Condition,
    Not,
    Operator,
    Origin,
    Rule,
)
from abacus.signals.rules.decide.types import (
    looked_up as looked_up_side,
)
from tests.signals.rules.any_rules import looked_up, rules, variables
from tests.signals.rules.orders import order
from tests.signals.rules.plain import holds

GOLDEN = Path(__file__).parents[2] / "golden" / "rules.json"


def rule_of(document: Any, cheapest_first: Sequence[str]) -> Rule:
    if isinstance(document, str):
        origin = Origin(document.partition(".")[0], cheapest_first.index(document))
        return Condition(Operator.EQ, looked_up_side(origin, document, VariableType.BOOLEAN), rhs=True)
    operator, *inner = document
    parts = tuple(rule_of(each, cheapest_first) for each in inner)
    groups: Mapping[str, Rule] = {"and": AllOf(parts), "or": AnyOf(parts), "not": Not(parts[0])}
    return groups[operator]


@pytest.mark.parametrize("case", json.loads(GOLDEN.read_text())["cases"], ids=lambda case: case["name"])
def test_golden(case: Mapping[str, Any]) -> None:
    plan = RulePlan(rule_of(case["rule"], case["cheapest_first"]))
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
    decision = RulePlan(rule).decide(event, {"member.tier": found.get("member.tier")})
    assert decision.holds is holds(rule, event, found)
    first = RulePlan(rule).decide(event, {})
    assert all(not looked.condition.lhs.is_looked_up for looked in first.looked)
    if first.wanted is None:
        assert {holds(rule, event, {}), holds(rule, event, {"member.tier": "a"})} == {first.holds}
