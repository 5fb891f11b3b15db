"""The conditions that were looked at, in words, as explanations keep them. Pure."""

import re
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Final

from abacus.core.points import plain
from abacus.signals.events.types import Value, VariableType
from abacus.signals.rules.decide.plan import Looked
from abacus.signals.rules.decide.types import Condition, Constant, Operator

MOST_KEPT: Final = 40  # conditions that an explanation keeps
_LONGEST: Final = 120  # characters of a value
_CUT: Final = "…"
_MISSING: Final = "missing"
_DECIMAL: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_BETWEEN: Final = ", "


def conditions_of(looked: Iterable[Looked]) -> tuple[tuple[str, str], ...]:
    """Each condition, and the value that its left side had."""
    return tuple((condition_text(each.condition), value_text(each.value)) for each in list(looked)[:MOST_KEPT])


def condition_text(condition: Condition) -> str:
    if condition.operator is Operator.EXISTS:
        return f"{condition.lhs.text} exists"
    return f"{condition.lhs.text} {condition.operator} {_constant(condition.rhs)}"


def value_text(value: Value | None) -> str:
    text = _MISSING if value is None else _constant(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + _CUT


def read_value(text: str, type_: VariableType) -> tuple[Value | None, ...]:
    """The values that `value_text` may have written so: none where it was cut, several where it cannot be told, such as
    the text "missing". Raises `ValueError` where no value of the type is written so.
    """
    if len(text) > _LONGEST:
        return ()
    if text == _MISSING:
        return (None, text) if type_ is VariableType.TEXT else (None,)
    value = _of_type(text, type_)
    if value_text(value) != text:
        raise ValueError(f"{text!r} is no {type_}")
    if value == ():
        return (value, ("",))
    return (value, _with_commas(value)) if isinstance(value, tuple) else (value,)


def _with_commas(entries: tuple[str, ...]) -> tuple[str, ...]:
    """All that may be entries, if commas may belong to them."""
    places = range(len(entries))
    return tuple(_BETWEEN.join(entries[first : last + 1]) for first in places for last in places[first:])


def _of_type(text: str, type_: VariableType) -> Value:
    """Raises `ValueError`."""
    match type_:
        case VariableType.TEXT:
            return text
        case VariableType.BOOLEAN:
            return text == "true"
        case VariableType.INTEGER:
            return int(text)
        case VariableType.DECIMAL:
            if not _DECIMAL.fullmatch(text):
                raise ValueError(f"{text!r} is no {type_}")
            return Decimal(text)
        case VariableType.TIME:
            return datetime.fromisoformat(text)
        case VariableType.TEXTS:
            inner = text.removeprefix("[").removesuffix("]")
            return tuple(inner.split(_BETWEEN)) if inner else ()


def _constant(value: Constant) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case Decimal():
            return plain(value)
        case datetime():
            return value.isoformat()
        case frozenset():
            return f"[{_BETWEEN.join(sorted(map(_constant, value)))}]"
        case tuple():
            return f"[{_BETWEEN.join(map(_constant, value))}]"
        case _:
            return str(value)
