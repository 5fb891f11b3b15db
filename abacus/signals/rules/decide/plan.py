"""Rules that are decided with as few values as possible: the cheapest condition that still matters is looked at first.

A condition matters while its outcome may change that of the rule: one alternative of an `or` that holds makes the
others idle, and so does one part of an `and` that does not. Pure.
"""

import sys
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias, cast

from abacus.signals.events.types import Value
from abacus.signals.rules.decide.at_least import AtLeast, lasting
from abacus.signals.rules.decide.compiler import Compiled, compile_rule
from abacus.signals.rules.decide.types import (
    AllOf,
    AnyOf,
    Condition,
    FactPlace,
    Facts,
    Located,
    Not,
    Origin,
    Rule,
    Side,
)

# The values that were looked up, by the text of their left side; None for a value that is not there.
LookedUp: TypeAlias = Mapping[str, Value | AtLeast | None]

_IN_MEMORY: Final = 0  # the cost of what the facts themselves tell
_NONE: Final = sys.maxsize  # the rank of no condition
_NOTHING: Final[LookedUp] = MappingProxyType({})


class Looked(NamedTuple):
    """A condition that was looked at, the value of its left side, and whether it holds."""

    condition: Condition
    value: Value | None
    holds: bool


class Decision(NamedTuple):
    """Whether the rule holds, or the left side whose value has to be looked up first; and the conditions that were
    looked at. Both are None where the rule depends on how far a value has risen that is known from below; then no other
    value is needed.
    """

    holds: bool | None
    wanted: Side | None
    looked: Sequence[Looked]
    looked_up: LookedUp = _NOTHING

    @property
    def is_open(self) -> bool:
        """Whether the rule depends on values that may have risen."""
        return self.holds is None and self.wanted is None


class RulePlan:
    """The order in which the conditions of a rule are looked at."""

    __slots__ = ("_leaves", "_look", "_root", "_settles", "_texts")

    def __init__(self, rule: Rule) -> None:
        leaves: list[Condition] = []
        root = _node(rule, leaves)
        costs = [_cost(leaf.lhs) for leaf in leaves]
        order = sorted(range(len(costs)), key=costs.__getitem__)
        self._leaves = [leaves[leaf] for leaf in order]
        self._texts = [leaf.lhs.text if leaf.lhs.is_looked_up else None for leaf in self._leaves]
        self._root = _ranked(root, {leaf: rank for rank, leaf in enumerate(order)})
        self._settles = _settles(self._root)
        self._look: list[Compiled] = []  # at the conditions, once the first facts come

    @property
    def sides(self) -> Sequence[Side]:
        """The left sides of the conditions, the cheapest first."""
        return [leaf.lhs for leaf in self._leaves]

    def decide(self, facts: Facts, looked_up: LookedUp) -> Decision:
        """Looks at conditions until the rule is decided, or a value is wanting."""
        self._look = self._look or [compile_rule(leaf) for leaf in self._leaves]
        if self._settles is not None:
            return self._one_by_one(facts, looked_up, settles=self._settles)
        outcomes: list[bool | None] = [None] * len(self._leaves)
        unsettled: set[int] = set()
        looked: list[Looked] = []
        while (holds := _value(self._root, outcomes)) is None:
            rank = _cheapest(self._root, outcomes, unsettled)
            if rank == _NONE:
                break
            text = self._texts[rank]
            if text is not None and text not in looked_up:
                return Decision(None, self._leaves[rank].lhs, looked, looked_up)
            if (one := self._looked(rank, facts, looked_up)) is None:
                unsettled.add(rank)
            else:
                looked.append(one)
                outcomes[rank] = one.holds
        return Decision(holds, None, looked, looked_up)

    def _one_by_one(self, facts: Facts, looked_up: LookedUp, *, settles: bool) -> Decision:
        """The same for conditions that are joined without groups in between: the cheapest that still matters is the
        next one, until one of them settles the rule.
        """
        looked: list[Looked] = []
        is_open = False
        for rank, text in enumerate(self._texts):
            if text is not None and text not in looked_up:
                return Decision(None, self._leaves[rank].lhs, looked, looked_up)
            if (one := self._looked(rank, facts, looked_up)) is None:
                is_open = True
                continue
            looked.append(one)
            if one.holds is settles:
                return Decision(settles, None, looked, looked_up)
        return Decision(None if is_open else not settles, None, looked, looked_up)

    def _looked(self, rank: int, facts: Facts, looked_up: LookedUp) -> Looked | None:
        """None where it is not settled yet whether the condition holds."""
        condition, text = self._leaves[rank], self._texts[rank]
        value = value_of(condition.lhs, facts) if text is None else looked_up.get(text)
        if isinstance(value, AtLeast):
            holds = lasting(condition, value)
            return None if holds is None else Looked(condition, value.least, holds)
        known = {condition.lhs.text: value} if value is not None else {}
        return Looked(condition, value, self._look[rank](facts, known))


def value_of(side: Side, facts: Facts) -> Value | None:
    """The value of a left side that the facts themselves have; None where it is missing."""
    if side.place is FactPlace.VARIABLE:
        return facts.variables.get(side.name)
    if side.place is FactPlace.REGION:
        return cast("Located", facts).lies_in(side.name)
    value: Value | None = getattr(facts, side.name)
    return value


class _Group(NamedTuple):
    """Nodes that are joined: `decides` is the outcome of a node that settles the group."""

    nodes: "tuple[_Node, ...]"
    decides: bool


class _Inverse(NamedTuple):
    node: "_Node"


_Node: TypeAlias = int | _Group | _Inverse  # a number is that of a condition


def _node(rule: Rule, leaves: list[Condition]) -> _Node:
    match rule:
        case AllOf(conditions):
            return _Group(tuple(_node(each, leaves) for each in conditions), decides=False)
        case AnyOf(conditions):
            return _Group(tuple(_node(each, leaves) for each in conditions), decides=True)
        case Not(condition):
            return _Inverse(_node(condition, leaves))
        case Condition():
            leaves.append(rule)
            return len(leaves) - 1


def _ranked(node: _Node, ranks: Mapping[int, int]) -> _Node:
    match node:
        case int():
            return ranks[node]
        case _Group(nodes, decides):
            return _Group(tuple(_ranked(each, ranks) for each in nodes), decides)
        case _Inverse(inner):
            return _Inverse(_ranked(inner, ranks))


def _settles(root: _Node) -> bool | None:
    """The outcome of a condition that settles the rule by itself, whichever it is; None where that depends."""
    match root:
        case int():
            return False
        case _Group(nodes, decides) if all(isinstance(node, int) for node in nodes):
            return decides
        case _:
            return None


def _cost(side: Side) -> int:
    return side.place.cost if isinstance(side.place, Origin) else _IN_MEMORY


def _value(node: _Node, outcomes: Sequence[bool | None]) -> bool | None:
    """The outcome, where what is known settles it."""
    match node:
        case int():
            return outcomes[node]
        case _Inverse(inner):
            value = _value(inner, outcomes)
            return None if value is None else not value
        case _Group(nodes, decides):
            is_open = False
            for each in nodes:
                value = _value(each, outcomes)
                if value is decides:
                    return decides
                is_open |= value is None
            return None if is_open else not decides


def _cheapest(node: _Node, outcomes: Sequence[bool | None], unsettled: Collection[int]) -> int:
    """The cheapest condition of an unsettled node that still matters and was not looked at."""
    match node:
        case int():
            return _NONE if node in unsettled else node
        case _Inverse(inner):
            return _cheapest(inner, outcomes, unsettled)
        case _Group(nodes, _):
            return min(_cheapest(each, outcomes, unsettled) for each in nodes if _value(each, outcomes) is None)
