"""The uses that a member's own limits leave."""

from datetime import date

import pytest

from abacus.engage.limits.types import UNBOUND, Amounts, Bound, Limits
from abacus.engage.offers.decide.member_uses import Taken, uses_left

TODAY, YESTERDAY = date(2026, 3, 2), date(2026, 3, 1)
ONCE, TWICE = Bound(runs=1), Bound(runs=2)
MONEY = Bound(cost=10)


@pytest.mark.parametrize(
    ("member", "member_day", "taken", "left"),
    [
        (TWICE, UNBOUND, {}, 2),
        (TWICE, UNBOUND, {TODAY: Amounts(1)}, 1),
        (TWICE, UNBOUND, {None: Amounts(1), YESTERDAY: Amounts(1)}, 0),
        (ONCE, UNBOUND, {None: Amounts(5)}, 0),
        (UNBOUND, ONCE, {None: Amounts(5), YESTERDAY: Amounts(1)}, 1),
        (UNBOUND, ONCE, {TODAY: Amounts(1)}, 0),
        (TWICE, ONCE, {YESTERDAY: Amounts(1)}, 1),
        (TWICE, ONCE, {YESTERDAY: Amounts(2)}, 0),
        (MONEY, TWICE, {YESTERDAY: Amounts(1, cost=9)}, 2),
        (MONEY, TWICE, {YESTERDAY: Amounts(1, cost=10)}, 0),
        (UNBOUND, Bound(runs=9, points=50), {TODAY: Amounts(1, points=50)}, 0),
    ],
)
def test_what_is_left(member: Bound, member_day: Bound, taken: Taken, left: int) -> None:
    assert uses_left(Limits(member=member, member_day=member_day), taken, TODAY) == left


def test_without_limits_there_is_always_more() -> None:
    assert uses_left(Limits(), {TODAY: Amounts(1000, 1000, 1000)}, TODAY) > 1000
