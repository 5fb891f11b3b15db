"""The constants of conditions: read as the type of their left side, and written as JSON. Pure."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from abacus.core.fields import Bad, flag, moment, quoted, shown, string
from abacus.core.points import plain
from abacus.signals.events.types import Value, VariableType
from abacus.signals.rules.decide.types import Constant, Operator

MAX_LISTED: Final = 1000  # values of `in`
MAX_TEXT: Final = 256  # characters
_MOST: Final = 2**63 - 1
_DECIMAL: Final = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,12})?")


def read_constant(operator: Operator, type_: VariableType, value: object) -> Constant:
    """The right side of a condition that has one. Raises `Bad`."""
    read = _READERS[type_]
    match operator:
        case Operator.IN:
            return _listed(read, value)
        case Operator.BETWEEN:
            return _ends(read, value)
        case _:
            return read(value)


def constant_document(constant: Constant) -> object:
    """The right side as JSON holds it."""
    match constant:
        case frozenset():
            return [constant_document(each) for each in sorted(constant)]
        case tuple():
            return [constant_document(each) for each in constant]
        case Decimal():
            return plain(constant)
        case datetime():
            return constant.isoformat()
        case _:
            return constant


def _listed(read: Callable[[object], Value], value: object) -> frozenset[Value]:
    if not isinstance(value, list | tuple):
        raise Bad(f"{shown(value)}; write an array of values")
    if not 1 <= len(value) <= MAX_LISTED:
        raise Bad(f"{len(value)} values; write 1 to {MAX_LISTED}")
    return frozenset(map(read, value))


def _ends(read: Callable[[object], Value], value: object) -> tuple[Value, Value]:
    if not isinstance(value, list | tuple) or len(value) != 2:  # noqa: PLR2004  # the two ends
        raise Bad("write an array of two values, the lowest and the highest")
    lowest, highest = map(read, value)
    if highest < lowest:  # type: ignore[operator]  # of one type, which has an order
        raise Bad("the second value is lower than the first; write the lowest, then the highest")
    return lowest, highest


def _text(value: object) -> str:
    text = string(value)
    if len(text) > MAX_TEXT:
        raise Bad(f"{quoted(text)} has {len(text)} characters; at most {MAX_TEXT} are compared")
    return text


def _integer(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise Bad(f"{shown(value)}; write a whole number without quotes")
    if abs(value) > _MOST:
        raise Bad(f"{shown(value)}, larger than that of an event can be")
    return value


def _decimal(value: object) -> Decimal:
    if isinstance(value, int) and not isinstance(value, bool):
        return Decimal(_integer(value))
    if isinstance(value, float):
        raise Bad(f'{shown(value)}; write a decimal as a string, such as "1.5"')
    text = string(value)
    if not _DECIMAL.fullmatch(text):
        raise Bad(f'{quoted(text)} is not a plain decimal number such as "1.5"')
    return Decimal(text)


def _time(value: object) -> datetime:
    return moment(value).astimezone(UTC)


_READERS: Final[Mapping[VariableType, Callable[[object], Value]]] = {
    VariableType.TEXT: _text,
    VariableType.INTEGER: _integer,
    VariableType.DECIMAL: _decimal,
    VariableType.BOOLEAN: flag,
    VariableType.TIME: _time,
    VariableType.TEXTS: _text,
}
