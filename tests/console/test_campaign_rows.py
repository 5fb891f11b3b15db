"""The rows of a campaign that is being written: added and taken away, whatever else the document is."""

from collections.abc import Sequence
from typing import Any

import pytest

from abacus.console.decide.campaign_rows import (
    condition_of,
    conditions_in,
    steps_in,
    with_condition,
    with_step,
    without_condition,
    without_step,
)
from abacus.console.decide.sentences import OPERATORS
from abacus.signals.events.types import VariableType
from abacus.signals.rules.decide.types import Operator

A: dict[str, Any] = {"operator": "eq", "lhs": "var.a", "rhs": "x"}
B: dict[str, Any] = {"operator": "in", "lhs": "var.b", "rhs": [1, 2]}
C: dict[str, Any] = {"operator": "exists", "lhs": "var.c"}


def joined(operator: str, *conditions: Any) -> dict[str, Any]:
    return {"operator": operator, "conditions": list(conditions)}


@pytest.mark.parametrize(
    ("when", "rows"),
    [
        (None, []),
        (A, [("", 0, "var.a is x")]),
        (
            joined("and", A, joined("or", B, joined("not", C))),
            [
                ("", 0, "all of these"),
                ("0", 1, "var.a is x"),
                ("1", 1, "one of these"),
                ("1.0", 2, "var.b is one of 1, 2"),
                ("1.1", 2, "not"),
                ("1.1.0", 3, "var.c is there"),
            ],
        ),
        ("nothing that is a rule", []),
        ({"operator": "and", "conditions": "none"}, [("", 0, "all of these")]),
    ],
)
def test_conditions_as_rows(when: Any, rows: Sequence[tuple[str, int, str]]) -> None:
    document = {} if when is None else {"when": when}
    assert [
        (each.remove.removeprefix("remove-condition:"), each.depth, each.says)
        for each in conditions_in(document, OPERATORS)
    ] == rows


@pytest.mark.parametrize(
    ("when", "then"),
    [(None, A), (B, joined("and", B, A)), (joined("and", B, C), joined("and", B, C, A)), (joined("or", B, C), None)],
)
def test_a_condition_is_added_to_those_that_have_to_hold(when: Any, then: Any) -> None:
    document = {"name": "n", "limits": {"unlimited": True}} | ({} if when is None else {"when": when})
    added = with_condition(document, A)
    assert added["when"] == (then or joined("and", when, A))
    assert list(added)[-1] in {"limits", "when"}


@pytest.mark.parametrize(
    ("when", "place", "left"),
    [
        (A, "", None),
        (joined("and", A, B), "0", B),
        (joined("and", A, B, C), "1", joined("and", A, C)),
        (joined("and", A, joined("or", B, C)), "1.0", joined("and", A, C)),
        (joined("and", A, joined("not", B)), "1.0", A),
        (joined("and", A, joined("not", B)), "1", A),
        (joined("and", A, B), "7", joined("and", A, B)),
    ],
)
def test_a_condition_is_taken_away(when: Any, place: str, left: Any) -> None:
    assert without_condition({"when": when, "name": "n"}, place).get("when") == left


@pytest.mark.parametrize(
    ("type_", "operator", "typed", "rhs"),
    [
        (VariableType.TEXT, Operator.EQ, "food", "food"),
        (VariableType.INTEGER, Operator.GTE, "3", 3),
        (VariableType.INTEGER, Operator.GTE, "-3", -3),
        (VariableType.INTEGER, Operator.GTE, "three", "three"),
        (VariableType.DECIMAL, Operator.BETWEEN, "1.50 and 20", ["1.50", "20"]),
        (VariableType.DECIMAL, Operator.EQ, "many", "many"),
        (VariableType.TEXT, Operator.IN, "food, mart,", ["food", "mart"]),
        (VariableType.BOOLEAN, Operator.EQ, "Yes", True),
    ],
)
def test_a_constant_is_as_its_type_has_it(type_: VariableType, operator: Operator, typed: str, rhs: object) -> None:
    assert condition_of("var.a", operator, type_, typed) == {"operator": operator, "lhs": "var.a", "rhs": rhs}
    assert "rhs" not in condition_of("var.a", Operator.EXISTS, type_, typed)


def test_steps_as_rows() -> None:
    document: dict[str, Any] = {"name": "n", "limits": {}}
    document = with_step(
        document, {"at": 3, "do": [{"award": {"points": 5}}, {"tell": {"en": "Hi\nYou"}, "after": "2h"}]}
    )
    document = with_step(document, {"every": 2, "variant": "b", "do": [{"call": "hook"}]})
    document = with_step(document, {"do": [{"award": {"multiple": "2"}, "at": "17:00"}]})
    assert list(document) == ["name", "steps", "limits"]
    assert [each.says for each in steps_in(document)] == [
        "at event 3: award points 5, tell en Hi after 2h",
        "at every 2 events in the arm b: call hook",
        "each time: award multiple 2 at 17:00",
    ]
    assert [each.says for each in steps_in(without_step(document, 1))] == [
        "at event 3: award points 5, tell en Hi after 2h",
        "each time: award multiple 2 at 17:00",
    ]
    assert "steps" not in without_step({"steps": [{}]}, 0)
    assert steps_in({"steps": "none"}) == []
