"""The conditions that were looked at, in words, as explanations keep them. Pure."""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Final

from abacus.core.points import plain
from abacus.engage.events.types import Value
from abacus.engage.rules.decide.lazy import Looked
from abacus.engage.rules.decide.types import Constant, Operator

_MOST: Final = 40  # conditions that an explanation keeps
_LONGEST: Final = 120  # characters of a value


def conditions_of(looked: Iterable[Looked]) -> tuple[tuple[str, str], ...]:
    """Each condition, and the value that its left side had."""
    return tuple((condition_text(each), value_text(each.value)) for each in list(looked)[:_MOST])


def condition_text(looked: Looked) -> str:
    condition = looked.condition
    if condition.operator is Operator.EXISTS:
        return f"{condition.lhs.text} exists"
    return f"{condition.lhs.text} {condition.operator} {_constant(condition.rhs)}"


def value_text(value: Value | None) -> str:
    text = "missing" if value is None else _constant(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _constant(value: Constant) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case Decimal():
            return plain(value)
        case datetime():
            return value.isoformat()
        case frozenset():
            return f"[{', '.join(sorted(map(_constant, value)))}]"
        case tuple():
            return f"[{', '.join(map(_constant, value))}]"
        case _:
            return str(value)
