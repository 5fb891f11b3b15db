"""An index of rules: the rules that may hold for facts, without a look at the others. Pure.

The set of all rules is an integer, a bit for each rule. For each left side that rules compare with constants there is
the set of the rules that accept a value, so a few look-ups and a few `and`s leave the rules whose indexed conditions
hold. What the index does not prove of them is in their `rest`.
"""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from abacus.signals.events.types import Value
from abacus.signals.rules.decide.bounds import FromValue, UpToValue
from abacus.signals.rules.decide.compiler import Compiled, compile_rule
from abacus.signals.rules.decide.parts import Indexable, Where, split
from abacus.signals.rules.decide.types import FactPlace, Facts, Rule, Side

_NONE: Final = 0


class Rest(NamedTuple):
    """What the index does not prove of a rule: the function of what is in memory, and what needs a look-up."""

    in_memory: Compiled | None
    later: Rule | None


class _Equal:
    """The rules that accept a value because it is one of some, or because they do not ask for it."""

    __slots__ = ("accepting", "indifferent")

    def __init__(self) -> None:
        self.accepting: dict[Hashable, int] = {}
        self.indifferent = _NONE

    def add(self, bit: int, values: Iterable[Hashable] | None) -> None:
        if values is None:
            self.indifferent |= bit
            return
        for value in values:
            self.accepting[value] = self.accepting.get(value, _NONE) | bit

    def remove(self, bit: int, values: Iterable[Hashable] | None) -> None:
        self.indifferent &= ~bit
        for value in values or ():
            left = self.accepting[value] & ~bit
            if left:
                self.accepting[value] = left
            else:
                del self.accepting[value]


class _Field:
    """What rules ask of one left side."""

    __slots__ = ("equal", "from_value", "side", "up_to_value", "used")

    def __init__(self, side: Side, others: int) -> None:
        self.side = side
        self.used = _NONE  # the rules that ask for it at all
        self.equal = _Equal()
        self.equal.indifferent = others
        self.from_value = FromValue(others)
        self.up_to_value = UpToValue(others)

    def accepting(self, value: Value | None) -> int:
        if value is None:
            return self.equal.indifferent & self.from_value.indifferent & self.up_to_value.indifferent
        equal = self.equal
        accepting = equal.indifferent
        if equal.accepting:
            accepting |= equal.accepting.get(value, _NONE)
        if self.from_value:
            accepting &= self.from_value.accepting(value)
        if self.up_to_value:
            accepting &= self.up_to_value.accepting(value)
        return accepting

    def add(self, bit: int, conditions: Indexable | None) -> None:
        equal, lowest, highest = conditions or Indexable()
        if conditions is not None:
            self.used |= bit
        self.equal.add(bit, equal)
        self.from_value.add(bit, lowest)
        self.up_to_value.add(bit, highest)

    def remove(self, bit: int, conditions: Indexable | None) -> None:
        equal, lowest, highest = conditions or Indexable()
        self.used &= ~bit
        self.equal.remove(bit, equal)
        self.from_value.remove(bit, lowest)
        self.up_to_value.remove(bit, highest)


class _Regions(_Field):
    """What rules ask of the regions of facts, of which there may be several."""

    __slots__ = ()

    def accepting(self, value: Any) -> int:
        accepting = self.equal.indifferent
        for region in value or ():
            accepting |= self.equal.accepting.get(region, _NONE)
        return accepting


class RuleIndex:
    """The rules for one kind of facts, each under a number. Numbers are small, and used again."""

    def __init__(self) -> None:
        self._all = _NONE
        self._fields: dict[Where, _Field] = {}
        self._conditions: dict[int, Mapping[Where, Indexable]] = {}
        self._rest: list[Rest | None] = []
        self._bits: list[int] = []

    def __len__(self) -> int:
        return len(self._conditions)

    def put(self, number: int, rule: Rule | None) -> None:
        """Adds a rule, in the place of a rule that has this number."""
        self.remove(number)
        indexed, in_memory, later = split(rule)
        while len(self._rest) <= number:
            self._bits.append(1 << len(self._bits))
            self._rest.append(None)
        bit = self._bits[number]
        for place, each in indexed.items():
            if place not in self._fields:
                of_place = _Regions if place[0] is FactPlace.REGION else _Field
                self._fields[place] = of_place(each.side, self._all)
        for place, field in self._fields.items():
            field.add(bit, indexed[place].conditions if place in indexed else None)
        self._all |= bit
        self._conditions[number] = {place: each.conditions for place, each in indexed.items()}
        if in_memory is not None or later is not None:
            self._rest[number] = Rest(compile_rule(in_memory) if in_memory is not None else None, later)

    def remove(self, number: int) -> None:
        """Leaves out the rule with this number, if there is any."""
        conditions = self._conditions.pop(number, None)
        if conditions is None:
            return
        bit = self._bits[number]
        self._all &= ~bit
        self._rest[number] = None
        for place, field in list(self._fields.items()):
            field.remove(bit, conditions.get(place))
            if not field.used:
                del self._fields[place]

    def may_hold(self, facts: Facts) -> list[int]:
        """The numbers of the rules that hold as far as memory tells."""
        found = self._all
        variables = facts.variables
        for (place, name), field in self._fields.items():
            found &= field.accepting(variables.get(name) if place is FactPlace.VARIABLE else getattr(facts, name))
            if not found:
                return []
        numbers: list[int] = []
        rests, bits = self._rest, self._bits
        while found:
            number = found.bit_length() - 1
            found ^= bits[number]
            rest = rests[number]
            if rest is None or rest.in_memory is None or rest.in_memory(facts):
                numbers.append(number)
        return numbers

    def later(self, number: int) -> Rule | None:
        """What has to be looked up of a rule that may hold."""
        rest = self._rest[number]
        return None if rest is None else rest.later
