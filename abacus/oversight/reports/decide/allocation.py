"""How much of a sale belongs to the points that it earned: in proportion to stand-alone prices. Pure."""

from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from abacus.oversight.reports.decide.revenue import in_units


class Allocation(NamedTuple):
    """A transaction price between what was sold and the points that came with it."""

    price: Decimal
    products: Decimal
    points: Decimal


def allocate(
    price: Decimal, products: Decimal, points: int, *, selling_price: Decimal, expected_use: Decimal, decimals: int
) -> Allocation:
    """`products` is what the products sell for by themselves; the points, their selling price times the share that is
    expected to be used. Rounded once; the products get the rest, so that nothing is lost.
    """
    alone = Fraction(selling_price) * points * Fraction(expected_use)
    together = alone + Fraction(products)
    share = in_units(Fraction(price) * alone / together, decimals) if together else Decimal(0)
    return Allocation(price, in_units(Fraction(price), decimals) - share, share)
