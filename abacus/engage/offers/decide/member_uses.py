"""The uses of offers that a member's own limits leave. Pure."""

from collections.abc import Mapping
from datetime import date
from typing import Final, TypeAlias

from abacus.engage.limits.types import NOTHING, Amounts, Bound, Limits

_MANY: Final = 10**9

# What a member has taken of an offer, by day; long ago, without one.
Taken: TypeAlias = Mapping[date | None, Amounts]


def uses_left(limits: Limits, taken: Taken, today: date) -> int:
    """None are left where the points or the money of a limit are used up, too."""
    ever = NOTHING
    for amounts in taken.values():
        ever = ever.plus(amounts)
    return min(_left(limits.member, ever), _left(limits.member_day, taken.get(today, NOTHING)))


def _left(bound: Bound, used: Amounts) -> int:
    if any(most is not None and have >= most for most, have in zip(bound[1:], used[1:], strict=True)):
        return 0
    return _MANY if bound.runs is None else max(0, bound.runs - used.runs)
