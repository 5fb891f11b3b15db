"""What an event adds to the counts of one definition: under which key, and how much. Pure."""

import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

from abacus.core.fields import DocumentFaults
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.template import COUNTRY_FIELD, LONGEST_KEY, MEMBER_FIELD, escaped
from abacus.signals.events.decide.source import Source
from abacus.signals.events.decide.vocabulary import Vocabulary
from abacus.signals.events.types import Event
from abacus.signals.rules.decide.compiler import compile_rule
from abacus.signals.rules.decide.document import parse_rule
from abacus.signals.rules.decide.names import ANY_NAME
from abacus.signals.rules.decide.place_sides import places_of
from abacus.signals.rules.decide.sides import of_event
from abacus.signals.rules.decide.types import Facts

_MOST_DIGITS: Final = 15
MOST_UNITS: Final = 10**_MOST_DIGITS  # that one event may add: a count of 64 bits holds thousands of such
_NEEDS_NO_MEASURE: Final = LONGEST_KEY // 4  # characters
_NEVER_STORED: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]"
)  # control characters, and what is none
_EXACT: Final = Context(prec=60, rounding=ROUND_HALF_UP)
_KEPT: Final = 20_000  # more than there are definitions


class NotCounted(StrEnum):
    """Why an event does not count. The list is closed: a metric counts by it."""

    CONDITION = "condition"  # the definition's rule does not hold
    MISSING = "missing"  # the event lacks a field of the template, or the variable to add
    MISFIT = "misfit"  # the source was published anew, and the definition does not fit it any more
    KEY = "key"  # the key would be too long, or hold control characters
    AMOUNT = "amount"  # more than one event may add
    NEW_KEY = "new-key"  # the day has new keys of the definition enough


class Counted(NamedTuple):
    """The stored key, and the units to add to its counts."""

    key: str
    units: int


class Keyed(Facts, Protocol):
    """Facts that a key can be made of."""

    @property
    def member_id(self) -> str | None: ...
    @property
    def country(self) -> str | None: ...


class EventMeasure:
    """Measures events by one definition."""

    __slots__ = (
        *("_add", "_beginning", "_fields", "_longest", "_most_digits", "_scale", "_when"),
        *("definition", "finest_s"),
    )

    def __init__(self, definition: Definition, when: Callable[[Facts], bool] | None) -> None:
        texts, names = definition.template
        self.definition: Final = definition
        self.finest_s: Final = definition.grid.finest_s
        self._when = when
        self._longest = LONGEST_KEY + len(definition.space)
        self._beginning = definition.stored_key(texts[0])
        self._fields = tuple(zip(names, texts[1:], [True] * (len(names) - 1) + [False], strict=False))
        self._add = definition.add if isinstance(definition.add, str) else None
        self._scale = Decimal(10**definition.decimals)
        self._most_digits = _MOST_DIGITS - definition.decimals

    def key_and_amount(self, event: Event) -> Counted | NotCounted:
        """The stored key and the units that the event adds to it, or why it does not count."""
        try:
            if self._when is not None and not self._when(event):
                return NotCounted.CONDITION
            key = self._key(event)
            if key is None:
                return NotCounted.MISSING
            if not self._can_be_stored(key):
                return NotCounted.KEY
            if self._add is None:
                return Counted(key, 1)
            units = self._units(event.variables.get(self._add))
        except (AttributeError, TypeError, ValueError):  # a value has another type than the definition knows
            return NotCounted.MISFIT
        return units if isinstance(units, NotCounted) else Counted(key, units)

    def key(self, facts: Keyed) -> str | None:
        """The key under which the facts count, as people ask for it; None where they lack a field."""
        key = self._key(facts)
        return None if key is None else key.removeprefix(self.definition.space)

    def _key(self, facts: Keyed) -> str | None:
        key = self._beginning
        for name, text, has_more in self._fields:
            if name == MEMBER_FIELD:
                value = facts.member_id
            elif name == COUNTRY_FIELD:
                value = facts.country
            else:
                value = _text_of(facts.variables.get(name))
            if value is None:
                return None
            key += (escaped(value) if has_more else value) + text
        return key

    def _can_be_stored(self, key: str) -> bool:
        if not key.isprintable() and _NEVER_STORED.search(key):
            return False
        return len(key) <= _NEEDS_NO_MEASURE or len(key.encode()) <= self._longest

    def _units(self, amount: object) -> int | NotCounted:
        """An amount is rounded half up to the decimals of the definition."""
        if amount is None:
            return NotCounted.MISSING
        if isinstance(amount, Decimal):
            if amount.adjusted() > self._most_digits:  # before it is written out in all its digits
                return NotCounted.AMOUNT
            amount = int(_EXACT.to_integral_value(_EXACT.multiply(amount, self._scale)))
        if not isinstance(amount, int):
            return NotCounted.MISFIT
        return amount if -MOST_UNITS <= amount <= MOST_UNITS else NotCounted.AMOUNT


@lru_cache(maxsize=_KEPT)
def measure_of(definition: Definition, sources: tuple[Source, ...]) -> EventMeasure:
    """How the definition measures the events of its types, by their sources as they are now."""
    if definition.when is None:
        return EventMeasure(definition, None)
    try:
        vocabulary = Vocabulary(definition.on, {each.name: each for each in sources})
        resolve = of_event(vocabulary.any(), places_of(vocabulary, ANY_NAME))
        return EventMeasure(definition, compile_rule(parse_rule(definition.when, resolve)))
    except (KeyError, DocumentFaults):
        return EventMeasure(definition, _misfit)


def _misfit(_: Facts) -> bool:
    raise TypeError("the rule does not fit the source any more")


def _text_of(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    raise TypeError(f"{type(value).__name__} stands in no key")
