"""What points pay at a till, and what refunds of such payments give back: tables, and what holds for all of them."""

from decimal import Decimal
from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.pricing.decide.point_value import (
    GivenBack,
    MixedPayment,
    PointValue,
    given_back,
    paid_by,
    paid_towards,
    worth_at_till,
)

CENT = PointValue(Decimal("0.01"))
THIRD = PointValue(Decimal("0.0033"))
NICKEL = PointValue(Decimal("0.01"), Decimal("0.05"))
RUPIAH = PointValue(Decimal(25), Decimal(100))
DEAR = PointValue(Decimal("0.03"))


# One row a case: what a point pays, the points, the fewest that pay as much, and the money.
@pytest.mark.parametrize(
    ("value", "points", "fewest", "money"),
    [
        (CENT, 420, 420, "4.20"),
        (CENT, 0, 0, "0.00"),
        (CENT, 1, 1, "0.01"),
        (THIRD, 101, 100, "0.33"),
        (THIRD, 3, 0, "0.00"),
        (THIRD, 4, 4, "0.01"),
        (NICKEL, 424, 420, "4.20"),
        (RUPIAH, 7, 4, "100"),
        (DEAR, 33, 33, "0.99"),
    ],
)
def test_these_points_pay(value: PointValue, points: int, fewest: int, money: str) -> None:
    assert paid_by(points, value) == (fewest, Decimal(money))


# One row a case: what a point pays, the money asked for, the points, and what they pay of it.
@pytest.mark.parametrize(
    ("value", "asked", "points", "money"),
    [
        (CENT, "4.20", 420, "4.20"),
        (CENT, "4.209", 420, "4.20"),
        (CENT, "0", 0, "0.00"),
        (THIRD, "0.33", 100, "0.33"),
        (THIRD, "0.32", 97, "0.32"),
        (NICKEL, "4.24", 420, "4.20"),
        (RUPIAH, "10099", 400, "10000"),
        (DEAR, "1.00", 33, "0.99"),  # 34 points would be worth more than was asked for
        (DEAR, "0.02", 0, "0.00"),
    ],
)
def test_this_money_is_paid_by(value: PointValue, asked: str, points: int, money: str) -> None:
    assert paid_towards(Decimal(asked), value) == (points, Decimal(money))


amounts = st.decimals("0.01", "100000", places=2)
values = st.builds(PointValue, st.decimals("0.0001", "50", places=4), st.sampled_from([Decimal("0.01"), Decimal(1)]))


@given(values, st.integers(0, 10**9))
def test_no_fewer_points_pay_as_much(value: PointValue, points: int) -> None:
    fewest, money = paid_by(points, value)
    assert fewest <= points
    assert money == worth_at_till(points, value) == worth_at_till(fewest, value)
    assert money % value.step == 0
    assert points * value.money - value.step < money <= points * value.money
    assert not fewest or worth_at_till(fewest - 1, value) < money


@given(values, amounts)
def test_a_payment_never_passes_the_money_and_the_next_larger_one_does(value: PointValue, asked: Decimal) -> None:
    _, money = paid_towards(asked, value)
    assert money <= asked
    more = ceil((Fraction(money) + Fraction(value.step)) / Fraction(value.money))  # the fewest that pay a step more
    assert worth_at_till(more, value) > asked


DINNER = MixedPayment(Decimal("10.00"), 420, Decimal("4.20"))
BY_POINTS = MixedPayment(Decimal("4.20"), 420, Decimal("4.20"))
ODD = MixedPayment(Decimal("3.00"), 200, Decimal("2.00"))


# One row a case: the purchase, what was refunded before, the refund, and what it gives back and leaves.
@pytest.mark.parametrize(
    ("paid", "before", "refunded", "back"),
    [
        (DINNER, "0", "5.00", (210, "2.90", 210, "2.90")),
        (DINNER, "5.00", "5.00", (210, "2.90", 0, "0.00")),
        (DINNER, "0", "10.00", (420, "5.80", 0, "0.00")),
        (DINNER, "0", "0.01", (0, "0.00", 420, "5.80")),
        (DINNER, "0.01", "0.01", (0, "0.01", 420, "5.79")),
        (DINNER, "8.00", "9.00", (84, "1.16", 0, "0.00")),  # more than was paid gives back no more
        (DINNER, "10.00", "1.00", (0, "0.00", 0, "0.00")),
        (BY_POINTS, "0", "1.00", (100, "0.00", 320, "0.00")),
        (ODD, "0", "1.00", (66, "0.33", 134, "0.67")),
        (ODD, "1.00", "1.00", (67, "0.33", 67, "0.34")),
        (ODD, "2.00", "1.00", (67, "0.34", 0, "0.00")),
    ],
)
def test_a_refund_gives_back_both_in_proportion(
    paid: MixedPayment, before: str, refunded: str, back: tuple[int, str, int, str]
) -> None:
    points, money, points_left, money_left = back
    expected = GivenBack(points, Decimal(money), points_left, Decimal(money_left))
    assert given_back(paid, Decimal(refunded), Decimal(before)) == expected


@given(amounts, st.integers(1, 10**9), st.data())
def test_all_refunds_together_give_back_exactly_what_was_paid(price: Decimal, points: int, data: st.DataObject) -> None:
    paid = MixedPayment(price, points, data.draw(st.decimals("0.01", price, places=2)))
    refunded, got_points, got_money = Decimal(0), 0, Decimal(0)
    for part in data.draw(st.lists(st.decimals("0.01", price, places=2), max_size=6)):
        back = given_back(paid, part, refunded)
        refunded, got_points, got_money = refunded + part, got_points + back.points, got_money + back.money
        assert back.points >= 0
        assert back.money >= 0
        assert (got_points + back.points_left, got_money + back.money_left) == (points, price - paid.money)
    last = given_back(paid, price, refunded)
    assert (got_points + last.points, got_money + last.money) == (points, price - paid.money)
    assert (last.points_left, last.money_left) == (0, Decimal(0))
