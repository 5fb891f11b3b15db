"""`counter.NAME(RANGE)`: a count under the key that follows from the facts. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final, NamedTuple, Protocol, TypeAlias

from abacus.core.fields import Bad, quoted
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.template import COUNTRY_FIELD, MEMBER_FIELD
from abacus.signals.events.types import VariableType
from abacus.signals.rules.decide.names import check_named
from abacus.signals.rules.decide.types import Origin

COUNTER: Final = Origin("counter", cost=40)
LONGEST_RANGE: Final = timedelta(days=366)

_LENGTH: Final = re.compile(r"([1-9][0-9]{0,3})([mhd])")
_UNITS: Final = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
_QUARTER: Final = timedelta(minutes=15)
_COUNTER: Final = re.compile(r"counter\.([a-z][a-z0-9_]{0,63})\(([a-z0-9]{1,8})\)")


class Calendar(StrEnum):
    """Ranges of a counter that begin with a day, a week or a month of a time zone."""

    TODAY = "today"
    WEEK = "week"
    MONTH = "month"


# A range of time that ends with the facts: from the begin of a day, a week or a month on, or of this length.
Range: TypeAlias = Calendar | timedelta


class CounterSide(NamedTuple):
    """`counter.NAME(range)`."""

    counter: str
    range: Range


class KeyFields(Protocol):
    """The fields of facts that the key of a counter may be made of. Both raise `Bad`."""

    def type_of(self, name: str) -> VariableType: ...
    def check_has_countries(self) -> None: ...


@dataclass(frozen=True, slots=True)
class CounterSides:
    """Counters by name. Without `fields` no key is judged."""

    counters: Mapping[str, Definition]
    fields: KeyFields | None = None

    origin = COUNTER

    def type_of(self, text: str) -> VariableType:
        side = counter_side(text)
        if side is None:
            raise Bad(f"{quoted(text)} is not of the form counter.NAME(RANGE), such as counter.rides(7d)")
        check_named(side.counter, self.counters, "counter", "abacus counters list")
        definition = self.counters[side.counter]
        if definition.retired:
            raise Bad(f"{side.counter} is retired: it counts no more")
        if self.fields is not None:
            _check_key(definition, self.fields)
        return VariableType.DECIMAL if definition.decimals else VariableType.INTEGER

    def texts(self) -> Iterable[str]:
        """One of each counter, with a range to be changed."""
        return (f"{COUNTER.name}.{name}(7d)" for name in sorted(self.counters))


def counter_side(text: str) -> CounterSide | None:
    """The counter and the range of `counter.rides(7d)`; None for a text of another form. Raises `Bad`."""
    match = _COUNTER.fullmatch(text)
    return None if match is None else CounterSide(match[1], _range(match[2]))


def _check_key(definition: Definition, fields: KeyFields) -> None:
    """Raises `Bad` for a field of the counter's key that the facts do not have."""
    for name in definition.template.fields:
        if name == COUNTRY_FIELD:
            fields.check_has_countries()
        elif name != MEMBER_FIELD:
            fields.type_of(name)


def _range(text: str) -> Range:
    if text in list(Calendar):
        return Calendar(text)
    match = _LENGTH.fullmatch(text)
    length = int(match[1]) * _UNITS[match[2]] if match else timedelta(0)
    if match is None or length > LONGEST_RANGE or length % _QUARTER:
        raise Bad(
            f"{quoted(text)} is not a range; write today, week, month, or a length such as 7d, 24h or 30m: whole"
            f" quarters of an hour, at most {LONGEST_RANGE.days} days"
        )
    return length
