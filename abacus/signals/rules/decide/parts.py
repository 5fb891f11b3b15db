"""A rule taken apart: the conditions that an index can prove, the rest of what is in memory, and what is looked up.

Only parts that have to hold are taken out: parts that are joined by `and` at the top. Pure.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from abacus.signals.events.types import VariableType
from abacus.signals.rules.decide.bounds import Bound
from abacus.signals.rules.decide.types import (
    AllOf,
    AnyOf,
    Condition,
    Constant,
    FactPlace,
    Not,
    Operator,
    Origin,
    Rule,
    Side,
)

Where: TypeAlias = tuple[FactPlace | Origin, str]  # the place of a left side, and its name there

_ANY_REGION: Final = Side("place", VariableType.BOOLEAN, FactPlace.REGION, "regions")
_HASHED: Final = frozenset({VariableType.TEXT, VariableType.INTEGER, VariableType.DECIMAL, VariableType.BOOLEAN})


class Indexable(NamedTuple):
    """What a rule asks of one left side: to be one of some values, at least a bound, at most a bound."""

    equal: frozenset[Hashable] | None = None
    lowest: Bound | None = None
    highest: Bound | None = None


class Indexed(NamedTuple):
    """A left side, and what a rule asks of it."""

    side: Side
    conditions: Indexable


class Parts(NamedTuple):
    """The parts of a rule: it holds when all of them do."""

    indexed: Mapping[Where, Indexed]
    in_memory: Rule | None
    later: Rule | None


def split(rule: Rule | None) -> Parts:
    """Takes a rule apart. No rule at all holds always."""
    indexed: dict[Where, Indexed] = {}
    in_memory: list[Rule] = []
    later: list[Rule] = []
    for part in _joined(rule) if rule is not None else ():
        if any(True for _ in looked_up_sides(part)):
            later.append(part)
            continue
        found = _indexable(part)
        place = (found.side.place, found.side.name) if found is not None else None
        together = _together(indexed.get(place), found) if place is not None and found is not None else None
        if place is None or together is None:
            in_memory.append(part)
        else:
            indexed[place] = together
    return Parts(indexed, _all_of(in_memory), _all_of(later))


def looked_up_sides(rule: Rule) -> Iterator[Side]:
    """The left sides whose values have to be looked up to decide the rule, as often as they are there."""
    match rule:
        case Condition(lhs=side):
            if side.is_looked_up:
                yield side
        case Not(inner):
            yield from looked_up_sides(inner)
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from looked_up_sides(part)


def _joined(rule: Rule) -> Iterator[Rule]:
    """The parts that have to hold."""
    if isinstance(rule, AllOf):
        for part in rule.conditions:
            yield from _joined(part)
    else:
        yield rule


def _all_of(parts: list[Rule]) -> Rule | None:
    return None if not parts else parts[0] if len(parts) == 1 else AllOf(tuple(parts))


def _indexable(part: Rule) -> Indexed | None:
    """What a part asks, where the index can prove all of it."""
    if isinstance(part, AnyOf):
        return _union([_indexable(each) for each in part.conditions])
    if not isinstance(part, Condition):
        return None
    if part.lhs.place is FactPlace.REGION:  # one of the regions of the facts has to be this one
        here = part.operator is Operator.EQ and part.rhs is True
        return Indexed(_ANY_REGION, Indexable(equal=frozenset({part.lhs.name}))) if here else None
    conditions = _conditions(part.operator, part.lhs, part.rhs)
    return None if conditions is None else Indexed(part.lhs, conditions)


def _conditions(operator: Operator, side: Side, rhs: Constant) -> Indexable | None:
    conditions: Indexable | None = None
    match operator:
        case Operator.EQ if side.type in _HASHED:
            conditions = Indexable(equal=frozenset({rhs}))
        case Operator.IN if isinstance(rhs, frozenset):
            conditions = Indexable(equal=rhs)
        case Operator.GTE:
            conditions = Indexable(lowest=(rhs, 0))
        case Operator.GT:
            conditions = Indexable(lowest=(rhs, 1))
        case Operator.LTE:
            conditions = Indexable(highest=(rhs, 0))
        case Operator.LT:
            conditions = Indexable(highest=(rhs, -1))
        case Operator.BETWEEN if isinstance(rhs, tuple):
            conditions = Indexable(lowest=(rhs[0], 0), highest=(rhs[1], 0))
    return conditions


def _union(alternatives: Iterable[Indexed | None]) -> Indexed | None:
    """One of several values of one left side."""
    values: set[Hashable] = set()
    sides: dict[Side, None] = {}
    for each in alternatives:
        if each is None or each.conditions.equal is None:
            return None
        sides[each.side] = None
        values |= each.conditions.equal
    return Indexed(next(iter(sides)), Indexable(equal=frozenset(values))) if len(sides) == 1 else None


def _together(before: Indexed | None, more: Indexed) -> Indexed | None:
    """Both of them; nothing where one left side is asked for twice in the same way, which the index cannot tell."""
    if before is None:
        return more
    one, other = before.conditions, more.conditions
    if any(a is not None and b is not None for a, b in zip(one, other, strict=True)):
        return None
    return Indexed(
        more.side,
        Indexable(one.equal or other.equal, one.lowest or other.lowest, one.highest or other.highest),
    )
