"""The share of a sale's price that belongs to the points that it earned: in proportion to stand-alone prices. Pure."""

from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from abacus.oversight.reports.decide.revenue import in_units


class Allocation(NamedTuple):
    """A transaction price, split between the products and the points that came with them."""

    price: Decimal
    products: Decimal
    points: Decimal


def allocate(
    price: Decimal, products: Decimal, points: int, *, selling_price: Decimal, expected_use: Decimal, decimals: int
) -> Allocation:
    """Split a price. `products` is the price of the products when sold alone; that of the points is their selling
    price times their expected use. Rounded once; the products get the rest, so that nothing is lost.
    """
    alone = Fraction(selling_price) * points * Fraction(expected_use)
    together = alone + Fraction(products)
    share = in_units(Fraction(price) * alone / together, decimals) if together else Decimal(0)
    return Allocation(price, in_units(Fraction(price), decimals) - share, share)
