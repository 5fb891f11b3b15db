"""What a benefit gives on a line, in whole numbers: the smallest units of a currency, or points. Pure."""

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import Final, NamedTuple

from abacus.engage.offers.decide.currencies import exact_units
from abacus.engage.offers.decide.offer import Benefit, BenefitKind

UNBOUND: Final = 10**18  # more than any price, and as a cap none at all
_PERCENT: Final = 100
_NONE: Final = Fraction(0)
_WHOLE: Final = Fraction(1)
_MOST_FORMULAS: Final = 100_000  # that are shared


class Formula(NamedTuple):
    """A benefit as one formula: a share of the line, a share of the price, so much for each piece, and so much for the
    line, over a common denominator. A benefit in points has the points that the purchase earns in place of the line.
    """

    of_line: int = 0
    of_price: int = 0
    of_pieces: int = 0  # never more than 0
    constant: int = 0
    over: int = 1
    cap: int = UNBOUND
    in_points: bool = False

    def given(self, line: int, price: int, pieces: int) -> int:
        """What is given, rounded half up, once; money is never more than the line. It never falls as the line and the
        price rise, and never rises with the pieces of one line.
        """
        of_line, of_price, of_pieces, constant, over, cap, in_points = self
        exact = of_line * line + of_price * price + of_pieces * pieces + constant
        if exact <= 0:
            return 0
        given = exact if over == 1 else (2 * exact + over) // (2 * over)  # `half_up`, without the way to it
        most = cap if in_points or cap < line else line
        return given if given < most else most  # noqa: FURB136  # `min` takes twice as long, and is called here often


def half_up(numerator: int, denominator: int) -> int:
    return (2 * numerator + denominator) // (2 * denominator)


def rounded_units(amount: Decimal, currency: str) -> int:
    """The amount in the smallest units of the currency."""
    exact = exact_units(amount, currency)
    return half_up(exact.numerator, exact.denominator)


@lru_cache(maxsize=_MOST_FORMULAS)
def formula_of(benefit: Benefit, currency: str) -> Formula:
    """The formula of a benefit. Equal benefits share one."""
    shares = _shares(benefit, currency)
    over = lcm(*(each.denominator for each in shares))
    of_line, of_price, of_pieces, constant = (int(each * over) for each in shares)
    in_points = benefit.kind.is_points
    cap = _cap(benefit, currency, in_points=in_points)
    return Formula(of_line, of_price, of_pieces, constant, over, cap, in_points)


def _shares(benefit: Benefit, currency: str) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Of the line, of the price, of each piece, and of no matter what."""
    figure = Fraction(benefit.figure)
    money = exact_units(benefit.figure, currency)
    match benefit.kind:
        case BenefitKind.PERCENT:
            return figure / _PERCENT, _NONE, _NONE, _NONE
        case BenefitKind.AMOUNT_OFF:
            return _NONE, _NONE, _NONE, money
        case BenefitKind.FIXED_PRICE:
            return _WHOLE, _NONE, -money, _NONE
        case BenefitKind.FREE_ITEM:
            return _NONE, _WHOLE, _NONE, _NONE
        case BenefitKind.POINTS_TIMES:  # the purchase earns them once by itself
            return figure - _WHOLE, _NONE, _NONE, _NONE
        case BenefitKind.POINTS_PLUS:
            return _NONE, _NONE, _NONE, figure


def _cap(benefit: Benefit, currency: str, *, in_points: bool) -> int:
    if benefit.cap is None:
        return UNBOUND
    if in_points:
        cap = Fraction(benefit.cap)
        return half_up(cap.numerator, cap.denominator)
    return rounded_units(benefit.cap, currency)
