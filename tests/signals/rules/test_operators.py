"""What each operator means for each type. One row a case: the condition, and whether it holds for the order."""

import pytest

from abacus.signals.events.types import Event
from abacus.signals.rules.decide.compiler import compile_rule
from abacus.signals.rules.decide.document import parse_rule
from tests.signals.rules.orders import RESOLVE, order

HOLDS = [
    ("var.city", "eq", "Bandung", True),
    ("var.city", "eq", "bandung", False),
    ("var.city", "ne", "Jakarta", True),
    ("var.city", "ne", "Bandung", False),
    ("var.city", "in", ["Jakarta", "Bandung"], True),
    ("var.city", "in", ["Jakarta"], False),
    ("var.city", "contains", "and", True),
    ("var.city", "contains", "And", False),
    ("var.city", "starts_with", "Ban", True),
    ("var.city", "starts_with", "andung", False),
    ("var.seats", "eq", 4, True),
    ("var.seats", "ne", 4, False),
    ("var.seats", "lt", 4, False),
    ("var.seats", "lte", 4, True),
    ("var.seats", "gt", 3, True),
    ("var.seats", "gte", 5, False),
    ("var.seats", "between", [4, 6], True),
    ("var.seats", "between", [1, 4], True),
    ("var.seats", "between", [5, 6], False),
    ("var.seats", "in", [2, 4], True),
    ("var.amount", "eq", "12.5", True),
    ("var.amount", "lt", "12.51", True),
    ("var.amount", "gte", 13, False),
    ("var.amount", "between", ["12.5", "12.5"], True),
    ("var.amount", "in", ["12.500", "1"], True),
    ("var.pooled", "eq", False, True),
    ("var.pooled", "ne", True, True),
    ("var.pooled", "eq", True, False),
    ("var.wanted_at", "eq", "2026-03-01T20:00:00+08:00", True),
    ("var.wanted_at", "lt", "2026-03-01T12:00:01Z", True),
    ("var.wanted_at", "between", ["2026-03-01T00:00:00Z", "2026-03-01T11:59:59Z"], False),
    ("var.tags", "contains", "night", True),
    ("var.tags", "contains", "nigh", False),
    ("event.member_id", "eq", "bob", True),
    ("event.country", "in", ["ID", "SG"], True),
    ("var.country", "eq", "ID", True),
    ("var.member_id", "starts_with", "j", False),
    ("event.type", "eq", "ride", True),
    ("event.source", "ne", "orders", False),
    ("event.id", "eq", "R-1", True),
    ("event.occurred_at", "gte", "2026-03-01T12:00:00Z", True),
]


@pytest.mark.parametrize(("lhs", "operator", "rhs", "outcome"), HOLDS)
def test_what_holds(lhs: str, operator: str, rhs: object, *, outcome: bool) -> None:
    assert judged({"operator": operator, "lhs": lhs, "rhs": rhs}, order()) is outcome


@pytest.mark.parametrize(("lhs", "operator", "rhs"), [row[:3] for row in HOLDS if row[0].startswith("var.")])
def test_a_missing_variable_makes_its_condition_false_whatever_the_operator(
    lhs: str, operator: str, rhs: object
) -> None:
    nothing = order({}, member_id=None)._replace(country=None)
    condition = {"operator": operator, "lhs": lhs, "rhs": rhs}
    assert judged(condition, nothing) is False
    assert judged({"operator": "not", "conditions": [condition]}, nothing) is True


@pytest.mark.parametrize(
    ("lhs", "outcome"), [("var.city", True), ("var.seats", False), ("event.country", True), ("event.member_id", False)]
)
def test_exists(lhs: str, *, outcome: bool) -> None:
    assert judged({"operator": "exists", "lhs": lhs}, order({"city": ""}, member_id=None)) is outcome


@pytest.mark.parametrize(
    ("group", "inner", "outcome"),
    [
        ("and", [True, True], True),
        ("and", [True, False], False),
        ("or", [False, True], True),
        ("or", [False, False], False),
        ("and", [True], True),
        ("or", [False], False),
        ("not", [True], False),
        ("not", [False], True),
    ],
)
def test_groups(group: str, inner: list[bool], *, outcome: bool) -> None:
    conditions = [{"operator": "eq" if each else "ne", "lhs": "event.country", "rhs": "ID"} for each in inner]
    assert judged({"operator": group, "conditions": conditions}, order()) is outcome


def test_a_value_of_another_type_than_the_rule_knows_is_an_error_and_no_answer() -> None:
    with pytest.raises(TypeError):
        judged({"operator": "lt", "lhs": "var.seats", "rhs": 3}, order({"seats": "4"}))


def judged(document: object, event: Event) -> bool:
    return compile_rule(parse_rule(document, RESOLVE))(event)
