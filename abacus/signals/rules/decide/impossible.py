"""Rules that can never hold, because two of their parts contradict each other. Pure.

Only parts that have to hold together are compared, each left side by itself: a rule that is not found here may still
never hold.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from abacus.signals.events.types import Value
from abacus.signals.rules.decide.types import AllOf, AnyOf, Condition, Not, Operator, Rule

_NOTHING_KNOWN: Final[Mapping[str, Value]] = {}


class _Wanted(NamedTuple):
    """What some conditions ask of one left side: one of some values, not some others, and two bounds, each of which may
    belong to what is asked.
    """

    equal: frozenset[Any] | None = None
    unequal: frozenset[Any] = frozenset()
    lowest: tuple[Any, bool] | None = None
    highest: tuple[Any, bool] | None = None

    def together(self, other: "_Wanted") -> "_Wanted":
        equal = [each for each in (self.equal, other.equal) if each is not None]
        lows = [each for each in (self.lowest, other.lowest) if each is not None]
        highs = [each for each in (self.highest, other.highest) if each is not None]
        return _Wanted(
            frozenset.intersection(*equal) if equal else None,
            self.unequal | other.unequal,
            max(lows, key=lambda each: (each[0], not each[1])) if lows else None,
            min(highs, key=lambda each: (each[0], each[1])) if highs else None,
        )

    @property
    def is_nothing(self) -> bool:
        """Whether no value is all of this."""
        if self.equal is not None:
            return not any(self._allows(each) for each in self.equal)
        if self.lowest is None or self.highest is None:
            return False
        (low, with_low), (high, with_high) = self.lowest, self.highest
        return bool(high < low or (high == low and not (with_low and with_high and low not in self.unequal)))

    def _allows(self, value: Any) -> bool:
        if value in self.unequal:
            return False
        if self.lowest is not None and (value < self.lowest[0] or (value == self.lowest[0] and not self.lowest[1])):
            return False
        return self.highest is None or value < self.highest[0] or (value == self.highest[0] and self.highest[1])


def cannot_hold(rule: Rule, known: Mapping[str, Value] = _NOTHING_KNOWN) -> str | None:
    """Why the rule can never hold; None where nothing is found. `known` has the values of left sides that are always
    these, by their texts.
    """
    wanted: dict[str, _Wanted] = {side: _Wanted(frozenset([value])) for side, value in known.items()}
    for part in _joined(rule):
        if isinstance(part, AnyOf):
            reasons = [cannot_hold(each, known) for each in part.conditions]
            if reasons and all(reasons):
                return reasons[0]
        for side, asked in _asked(part):
            wanted[side] = wanted[side].together(asked) if side in wanted else asked
            if wanted[side].is_nothing:
                return f"no {side} is all that is asked of it" if side not in known else f"{side} is {known[side]}"
    return None


def _joined(rule: Rule) -> Iterator[Rule]:
    """The parts that have to hold together."""
    if isinstance(rule, AllOf):
        for each in rule.conditions:
            yield from _joined(each)
    else:
        yield rule


def _asked(part: Rule) -> Iterable[tuple[str, _Wanted]]:
    match part:
        case Condition(operator, lhs, rhs):
            wanted = _wanted(operator, rhs)
            return [(lhs.text, wanted)] if wanted is not None else []
        case Not(Condition(Operator.EQ, lhs, rhs)):
            return [(lhs.text, _Wanted(unequal=frozenset([rhs])))]
        case Not(Condition(Operator.IN, lhs, rhs)) if isinstance(rhs, Collection):
            return [(lhs.text, _Wanted(unequal=frozenset(rhs)))]
        case _:
            return []


def _wanted(operator: Operator, rhs: Any) -> _Wanted | None:
    match operator:
        case Operator.EQ | Operator.IN:
            return _Wanted(frozenset([rhs] if operator is Operator.EQ else rhs))
        case Operator.NE:
            return _Wanted(unequal=frozenset([rhs]))
        case Operator.GT | Operator.GTE:
            return _Wanted(lowest=(rhs, operator is Operator.GTE))
        case Operator.LT | Operator.LTE:
            return _Wanted(highest=(rhs, operator is Operator.LTE))
        case Operator.BETWEEN:
            return _Wanted(lowest=(rhs[0], True), highest=(rhs[1], True))
        case _:
            return None
