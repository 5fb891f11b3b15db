"""Values that are known from below: whatever they have grown to by the time they are needed. Pure."""

from typing import NamedTuple

from abacus.signals.rules.decide.types import Condition, Constant, Operator


class AtLeast(NamedTuple):
    """An integer that is this one now, and only rises."""

    least: int


def lasting(condition: Condition, value: AtLeast) -> bool | None:
    """The outcome of a condition on integers, where it is the same however far the value rises; else None."""
    least, rhs = value.least, condition.rhs
    match condition.operator:
        case Operator.EXISTS:
            return True
        case Operator.GT:
            return True if least > _whole(rhs) else None
        case Operator.GTE:
            return True if least >= _whole(rhs) else None
        case Operator.NE:
            return True if least > _whole(rhs) else None
        case Operator.LT:
            return False if least >= _whole(rhs) else None
        case _:  # at most the constant, or the highest of them
            return False if least > _highest(rhs) else None


def _highest(rhs: Constant) -> int:
    return max(map(_whole, rhs)) if isinstance(rhs, tuple | frozenset) else _whole(rhs)


def _whole(constant: Constant) -> int:
    if not isinstance(constant, int):
        raise TypeError(f"{constant!r} is no integer")
    return constant
