"""A plain evaluator of rules: it shares nothing with the compiler but the rule."""

from collections.abc import Callable, Mapping
from typing import Any

from abacus.signals.events.types import Event, Value
from abacus.signals.rules.decide.types import AllOf, AnyOf, Condition, Not, Operator, Place, Rule


def holds(rule: Rule, event: Event, looked_up: Mapping[str, Value]) -> bool:
    match rule:
        case AllOf(conditions):
            return all(holds(each, event, looked_up) for each in conditions)
        case AnyOf(conditions):
            return any(holds(each, event, looked_up) for each in conditions)
        case Not(condition):
            return not holds(condition, event, looked_up)
        case Condition(operator, lhs, rhs):
            found: dict[Place, Any] = {
                Place.VARIABLE: event.variables.get(lhs.name),
                Place.EVENT: getattr(event, lhs.name, None),
                Place.LOOKED_UP: looked_up.get(lhs.text),
            }
            value = found[lhs.place]
            return value is not None and bool(_COMPARE[operator](value, rhs))


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
