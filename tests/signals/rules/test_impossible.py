"""Rules that can never hold."""

from typing import Any, Final

import pytest

from abacus.signals.events.types import VariableType
from abacus.signals.rules.decide.document import parse_rule
from abacus.signals.rules.decide.impossible import cannot_hold
from abacus.signals.rules.decide.sides import of_event

_RESOLVE: Final = of_event({"n": VariableType.INTEGER, "city": VariableType.TEXT})


def _c(operator: str, rhs: Any, lhs: str = "var.n") -> dict[str, Any]:
    return {"operator": operator, "lhs": lhs, "rhs": rhs}


def _and(*conditions: Any) -> dict[str, Any]:
    return {"operator": "and", "conditions": list(conditions)}


def _or(*conditions: Any) -> dict[str, Any]:
    return {"operator": "or", "conditions": list(conditions)}


def _not(condition: Any) -> dict[str, Any]:
    return {"operator": "not", "conditions": [condition]}


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        (_c("eq", 5), True),
        (_and(_c("eq", 5), _c("eq", 6)), False),
        (_and(_c("gt", 5), _c("lt", 5)), False),
        (_and(_c("gte", 5), _c("lte", 5)), True),
        (_and(_c("gt", 5), _c("lte", 5)), False),
        (_and(_c("gte", 5), _c("lte", 5), _c("ne", 5)), False),
        (_and(_c("in", [1, 2]), _c("in", [3, 4])), False),
        (_and(_c("in", [1, 2]), _c("gt", 1)), True),
        (_and(_c("in", [1, 2]), _c("gt", 2)), False),
        (_and(_c("between", [1, 3]), _c("between", [4, 5])), False),
        (_and(_c("eq", 5), _not(_c("eq", 5))), False),
        (_and(_c("in", [1, 2]), _not(_c("in", [1, 2]))), False),
        (_and(_c("eq", 5), _c("eq", "a", "var.city")), True),
        (_and(_and(_c("eq", 5)), _c("eq", 6)), False),
        (_or(_c("eq", 5), _c("eq", 6)), True),
        (_or(_and(_c("eq", 5), _c("eq", 6)), _and(_c("gt", 2), _c("lt", 1))), False),
        (_or(_and(_c("eq", 5), _c("eq", 6)), _c("eq", 7)), True),
        (_not(_and(_c("eq", 5), _c("eq", 6))), True),
    ],
)
def test_a_contradiction_is_found(rule: Any, holds: bool) -> None:  # noqa: FBT001  # a row
    assert (cannot_hold(parse_rule(rule, _RESOLVE)) is None) is holds


def test_with_what_is_always_so() -> None:
    rule = parse_rule(_c("eq", "b", "var.city"), _RESOLVE)
    assert cannot_hold(rule, {"var.city": "a"}) == "var.city is a"
    assert cannot_hold(rule, {"var.city": "b"}) is None
