"""A plain evaluator of rules: it shares nothing with the compiler but the rule."""

from collections.abc import Callable, Mapping
from typing import Any

from abacus.signals.events.types import Value
from abacus.signals.rules.decide.types import (
    AllOf,
    AnyOf,
    Condition,
    FactPlace,
    Facts,
    Not,
    Operator,
    Origin,
    Rule,
    Side,
)


def holds(rule: Rule, facts: Facts, looked_up: Mapping[str, Value]) -> bool:
    match rule:
        case AllOf(conditions):
            return all(holds(each, facts, looked_up) for each in conditions)
        case AnyOf(conditions):
            return any(holds(each, facts, looked_up) for each in conditions)
        case Not(condition):
            return not holds(condition, facts, looked_up)
        case Condition(operator, lhs, rhs):
            value = _value(lhs, facts, looked_up)
            return value is not None and bool(_COMPARE[operator](value, rhs))


def _value(side: Side, facts: Facts, looked_up: Mapping[str, Value]) -> Any:
    match side.place:
        case FactPlace.VARIABLE:
            return facts.variables.get(side.name)
        case FactPlace.FIELD:
            return getattr(facts, side.name)
        case FactPlace.REGION:
            regions = getattr(facts, "regions")  # noqa: B009  # of facts that have them
            return None if regions is None else side.name in regions
        case Origin():
            return looked_up.get(side.text)


_COMPARE: Mapping[Operator, Callable[[Any, Any], Any]] = {
    Operator.EQ: lambda value, rhs: value == rhs,
    Operator.NE: lambda value, rhs: value != rhs,
    Operator.LT: lambda value, rhs: value < rhs,
    Operator.LTE: lambda value, rhs: value <= rhs,
    Operator.GT: lambda value, rhs: value > rhs,
    Operator.GTE: lambda value, rhs: value >= rhs,
    Operator.IN: lambda value, rhs: any(value == each for each in rhs),
    Operator.BETWEEN: lambda value, rhs: rhs[0] <= value <= rhs[1],
    Operator.CONTAINS: lambda value, rhs: rhs in value,
    Operator.STARTS_WITH: lambda value, rhs: value[: len(rhs)] == rhs,
    Operator.EXISTS: lambda *_: True,
}
