"""A rule: conditions on an event, and on values that were looked up for it. Pure."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from abacus.signals.events.types import Value, VariableType


class Operator(StrEnum):
    """How a condition compares its left side with a constant."""

    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LTE = "lte"
    GT = "gt"
    GTE = "gte"
    IN = "in"
    BETWEEN = "between"  # both ends belong to it
    CONTAINS = "contains"  # a text its part, a list of text its entry
    STARTS_WITH = "starts_with"
    EXISTS = "exists"


class Place(StrEnum):
    """Where the value of a left side is."""

    VARIABLE = "variable"  # among the variables of the event
    EVENT = "event"  # a field of the event itself
    LOOKED_UP = "looked_up"  # among the values that were looked up for the event, by the text of the left side


@dataclass(frozen=True, slots=True)
class Side:
    """The left side of a condition: its text, such as `var.amount`, its type, and the place and name of its value."""

    text: str
    type: VariableType
    place: Place
    name: str


Constant: TypeAlias = Value | frozenset[Value] | tuple[Value, Value] | None


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison of a left side with a constant: for `in` a set, for `between` both ends, for `exists` nothing.

    A condition whose left side is missing is false, whatever its operator.
    """

    operator: Operator
    lhs: Side
    rhs: Constant = None


@dataclass(frozen=True, slots=True)
class AllOf:
    """Holds when every one of its conditions does."""

    conditions: "tuple[Rule, ...]"


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Holds when one of its conditions does."""

    conditions: "tuple[Rule, ...]"


@dataclass(frozen=True, slots=True)
class Not:
    """Holds when its condition does not, be it that a left side is missing."""

    condition: "Rule"


Rule: TypeAlias = Condition | AllOf | AnyOf | Not
