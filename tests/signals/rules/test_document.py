"""Every fault of a rule is named with its path."""

from typing import Any

import pytest

from abacus.core.fields import DocumentFaults
from abacus.signals.rules.decide.constants import MAX_LISTED
from abacus.signals.rules.decide.document import MAX_DEPTH, MAX_SIZE, parse_rule, rule_document
from tests.signals.rules.orders import RESOLVE

YES: dict[str, Any] = {"operator": "exists", "lhs": "var.city"}


def condition(lhs: object, operator: object, rhs: Any) -> dict[str, object]:
    return {"operator": operator, "lhs": lhs, "rhs": rhs}


def nested(depth: int) -> dict[str, Any]:
    return YES if depth == 1 else {"operator": "not", "conditions": [nested(depth - 1)]}


def wide(size: int) -> dict[str, Any]:
    """So many conditions and groups."""
    return {"operator": "or", "conditions": [YES] * (size - 1)}


# One row a case: the rule, every fault that it has.
FAULTS = [
    (5, "when: 5 is an integer; write a table with an operator"),
    ({}, "when.operator: missing"),
    (
        {"operator": "like", "lhs": "var.city", "rhs": "B%"},
        (
            "when.operator: 'like' is not an operator; write one of and, or, not, eq, ne, lt, lte, gt, gte, in,"
            " between, contains, starts_with, exists"
        ),
    ),
    ({"operator": "and"}, "when.conditions: missing"),
    ({"operator": "or", "conditions": []}, "when.conditions: write an array of at least one condition"),
    (
        {"operator": "not", "conditions": [YES, YES]},
        "when.conditions: write an array of one condition; `not` turns that one around",
    ),
    ({"operator": "and", "conditions": [YES], "lhs": "var.city"}, "when.lhs: unknown"),
    ({**YES, "rhs": True}, "when.rhs: `exists` compares with nothing; leave it out"),
    ({"operator": "eq", "lhs": "var.city"}, "when.rhs: missing"),
    ({"operator": "eq", "rhs": "x"}, "when.lhs: missing"),
    (condition(5, "eq", 5), "when.lhs: 5 is an integer; write a string"),
    (condition("var.citty", "eq", 5), "when.lhs: 'var.citty' is unknown here; did you mean var.city?"),
    (
        condition("balance", "eq", 5),
        (
            "when.lhs: 'balance' is unknown here; the events have var.amount, var.city, var.pooled, var.seats,"
            " var.tags, var.wanted_at"
        ),
    ),
    (
        condition("var.city", "lt", "x"),
        "when.operator: lt does not go with var.city, of type text; write eq, ne, in, contains, starts_with, exists",
    ),
    (
        condition("var.tags", "eq", "x"),
        "when.operator: eq does not go with var.tags, of type texts; write contains, exists",
    ),
    (condition("var.seats", "eq", "4"), "when.rhs: '4' is a string; write a whole number without quotes"),
    (condition("var.seats", "eq", rhs=True), "when.rhs: true is a boolean; write a whole number without quotes"),
    (condition("var.seats", "eq", 2**63), f"when.rhs: {2**63} is an integer, larger than that of an event can be"),
    (condition("var.amount", "eq", 1.5), 'when.rhs: 1.5 is a float; write a decimal as a string, such as "1.5"'),
    (condition("var.amount", "eq", "1e3"), "when.rhs: '1e3' is not a plain decimal number such as \"1.5\""),
    (condition("var.pooled", "eq", "no"), "when.rhs: 'no' is a string; write true or false, without quotes"),
    (condition("var.wanted_at", "eq", "noon"), "when.rhs: 'noon' is not a time such as 2026-01-01T00:00:00+08:00"),
    (
        condition("var.wanted_at", "eq", "2026-01-01T00:00:00"),
        "when.rhs: 2026-01-01T00:00:00 has no offset; add the local one, such as 2026-01-01T00:00:00+08:00",
    ),
    (
        condition("var.city", "eq", "x" * 257),
        f"when.rhs: '{'x' * 40}…' has 257 characters; at most 256 are compared",
    ),
    (condition("var.city", "in", "x"), "when.rhs: 'x' is a string; write an array of values"),
    (condition("var.city", "in", []), "when.rhs: 0 values; write 1 to 1000"),
    (condition("var.seats", "in", [0] * (MAX_LISTED + 1)), "when.rhs: 1001 values; write 1 to 1000"),
    (condition("var.seats", "between", [1]), "when.rhs: write an array of two values, the lowest and the highest"),
    (
        condition("var.seats", "between", [2, 1]),
        "when.rhs: the second value is lower than the first; write the lowest, then the highest",
    ),
    (nested(MAX_DEPTH + 1), "when: rules stand more than 12 deep in each other"),
    (wide(MAX_SIZE + 1), "when: more than 300 conditions and groups of conditions"),
    (
        {"operator": "and", "conditions": [YES, {"operator": "or", "conditions": [5, {**YES, "lsh": 1}]}]},
        (
            "when.conditions[1].conditions[0]: 5 is an integer; write a table with an operator\n"
            "when.conditions[1].conditions[1].lsh: unknown; did you mean lhs?"
        ),
    ),
]


@pytest.mark.parametrize(("rule", "faults"), FAULTS)
def test_faults(rule: object, faults: str) -> None:
    with pytest.raises(DocumentFaults) as caught:
        parse_rule(rule, RESOLVE)
    assert str(caught.value) == faults


@pytest.mark.parametrize("rule", [nested(MAX_DEPTH), wide(MAX_SIZE)])
def test_a_rule_at_the_bounds(rule: dict[str, Any]) -> None:
    assert rule_document(parse_rule(rule, RESOLVE)) == rule


def test_paths_begin_where_the_rule_stands() -> None:
    with pytest.raises(DocumentFaults, match=r"^steps\[0\]\.if\.operator: missing$"):
        parse_rule({}, RESOLVE, path="steps[0].if")
