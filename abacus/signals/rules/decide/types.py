"""A rule: conditions on facts, such as an event, and on values that were looked up beside them. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol, TypeAlias

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


class Facts(Protocol):
    """What a rule is about: variables by name, and fields that are attributes. An event is one kind of facts."""

    @property
    def variables(self) -> Mapping[str, Value]: ...


class Located(Facts, Protocol):
    """Facts that may have happened somewhere."""

    def lies_in(self, region: str) -> bool | None: ...


class FactPlace(StrEnum):
    """Where facts have the value of a left side."""

    VARIABLE = "variable"
    FIELD = "field"
    REGION = "region"  # whether they happened there


class Origin(NamedTuple):
    """Where the values of left sides are looked up. Its name is the first word of their texts; the cheapest is asked
    first.
    """

    name: str
    cost: int


@dataclass(frozen=True, slots=True)
class Side:
    """The left side of a condition: its text, such as `var.amount`, its type, and where its value is found by which
    name.
    """

    text: str
    type: VariableType
    place: FactPlace | Origin
    name: str

    @property
    def is_looked_up(self) -> bool:
        return isinstance(self.place, Origin)


def looked_up(origin: Origin, text: str, type_: VariableType) -> Side:
    """A left side whose value its origin tells."""
    return Side(text, type_, origin, text.removeprefix(f"{origin.name}."))


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
