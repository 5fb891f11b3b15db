"""What points pay at a till, and what a refund of such a payment gives back. Pure, in exact decimals.

Money is a multiple of the `step`, the smallest amount that points pay. Points pay less than they are worth by less than
one step, and a payment takes the fewest points that pay it. So a member never pays more than was shown.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import Final, NamedTuple

from abacus.core.points import EXACT

CENT: Final = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class PointValue:
    """What one point pays, in the currency of its card."""

    money: Decimal
    step: Decimal = CENT


class Payment(NamedTuple):
    """Points, and the money that they pay."""

    points: int
    money: Decimal


def worth_at_till(points: int, value: PointValue) -> Decimal:
    """The money that so many points pay."""
    steps = floor(Fraction(value.money) * points / Fraction(value.step))
    return EXACT.multiply(Decimal(steps), value.step)


def paid_by(points: int, value: PointValue) -> Payment:
    """What the points pay, with the fewest points that pay as much."""
    money = worth_at_till(points, value)
    return Payment(ceil(Fraction(money) / Fraction(value.money)), money)


def paid_towards(money: Decimal, value: PointValue) -> Payment:
    """The most that points pay of this money, with the fewest points that pay it."""
    step = Fraction(value.step)
    beyond = (floor(Fraction(money) / step) + 1) * step  # points that are worth this pay too much
    return paid_by(ceil(beyond / Fraction(value.money)) - 1, value)


class MixedPayment(NamedTuple):
    """A purchase of this `price`, of which points paid the `money`; the rest was paid otherwise."""

    price: Decimal
    points: int
    money: Decimal


class GivenBack(NamedTuple):
    """What refunds give back: points, and money that was not paid by points. What is left of both comes back with the
    refunds after.
    """

    points: int
    money: Decimal
    points_left: int
    money_left: Decimal


def given_back(paid: MixedPayment, refunded: Decimal, before: Decimal = Decimal(0)) -> GivenBack:
    """What a refund of so much of the price gives back, after refunds of `before`.

    All refunds so far give back their share of both, rounded down: of points to a whole one, of money to the smallest
    place that an amount of the purchase has. So all together give back exactly what was paid.
    """
    place = min(_place(paid.price), _place(paid.money), _place(refunded), _place(before))
    otherwise = paid.price - paid.money
    total = min(paid.price, EXACT.add(before, refunded))
    points, money = _share(paid, otherwise, total, place)
    points_before, money_before = _share(paid, otherwise, min(paid.price, before), place)
    return GivenBack(points - points_before, money - money_before, paid.points - points, otherwise - money)


def _share(paid: MixedPayment, otherwise: Decimal, refunded: Decimal, place: int) -> tuple[int, Decimal]:
    part = Fraction(refunded) / Fraction(paid.price)
    money = Decimal(floor(Fraction(otherwise) * part * 10**-place)).scaleb(place, EXACT)
    return floor(paid.points * part), money


def _place(amount: Decimal) -> int:
    """The exponent of its last digit; that of a whole number is 0."""
    exponent = amount.as_tuple().exponent
    assert isinstance(exponent, int)  # noqa: S101  # readers take plain digits only
    return min(exponent, 0)
