"""Revenue of points under IFRS 15 and ASC 606: deferred when they are issued, recognised as they are used, in
proportion to the expected use of all points. Pure; `activity` reads the points.

    recognised to date = allocated to date × used to date / expected to be used in all, at most all of it

Everything is computed from the beginning with exact fractions and rounded once. The month's revenue is the difference
of two such figures, so a change of the estimate is caught up in the month in which it comes into force.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from abacus.core.errors import Refused
from abacus.oversight.reports.decide.assumption import Assumption, AssumptionBook, Pair, percent
from abacus.programs.expiry.decide.month import Month


class Activity(NamedTuple):
    """A month's points of one program and country. `issued` is net of awards that were taken back, `used` net of
    spends and exchanges that were taken back; `added` points were adjusted, and nobody paid for them. Points that were
    exchanged came from a partner, or left for one.
    """

    program: str
    country: str
    month: Month
    issued: int = 0
    added: int = 0
    used: int = 0
    expired: int = 0
    exchanged_in: int = 0
    exchanged_out: int = 0


class Position(NamedTuple):
    """The sums of all months up to a month's end."""

    allocated: Fraction = Fraction(0)
    issued: int = 0
    used: int = 0
    left: int = 0

    def expected(self, use: Decimal) -> Fraction:
        """The number of points that will have been used in the end: at most the points used and the points that
        still can be.
        """
        return min(Fraction(use) * self.issued, Fraction(self.used + max(self.left, 0)))

    def recognised(self, use: Decimal) -> Fraction:
        if self.issued <= 0:
            return Fraction(0)
        expected, used = self.expected(use), max(self.used, 0)
        return self.allocated * (used / expected if used < expected else 1)


class Revenue(NamedTuple):
    """A month of one program in one country. `of_estimate` is the part of the month's revenue that comes from a
    change of the assumption since the month before.
    """

    program: str
    country: str
    month: str
    currency: str
    allocated: Decimal
    issued: int
    used: int
    expected_use: str
    expected_used: int
    recognised_before: Decimal
    of_estimate: Decimal
    recognised_in_month: Decimal
    recognised: Decimal
    deferred: Decimal
    assumption: str


# The amount allocated to the points of a month, if it is given in place of a price for each point.
Given = Mapping[Month, Decimal]


def revenue(
    activity: Iterable[Activity], pair: Pair, month: Month, book: AssumptionBook, *, given: Given, decimals: int
) -> Revenue:
    """The revenue of a month. Raises `Refused` if an assumption is missing that the figures need."""
    program, country = pair
    so_far = sorted(
        (each for each in activity if (each.program, each.country) == pair and each.month <= month),
        key=lambda each: each.month,
    )
    now = _in_force(book, pair, month)
    before = position([each for each in so_far if each.month < month], book, given)
    after = position(so_far, book, given)
    earlier = book.in_force(pair, month.before.last_day) or now
    recognised_before = in_units(before.recognised(earlier.estimate.expected_use), decimals)
    caught_up = in_units(before.recognised(now.estimate.expected_use), decimals)
    recognised = in_units(after.recognised(now.estimate.expected_use), decimals)
    allocated = in_units(after.allocated, decimals)
    return Revenue(
        program=program,
        country=country,
        month=str(month),
        currency=now.estimate.currency,
        allocated=allocated,
        issued=after.issued,
        used=after.used,
        expected_use=percent(now.estimate.expected_use),
        expected_used=int(in_units(after.expected(now.estimate.expected_use), 0)),
        recognised_before=recognised_before,
        of_estimate=caught_up - recognised_before,
        recognised_in_month=recognised - recognised_before,
        recognised=recognised,
        deferred=allocated - recognised,
        assumption=now.name,
    )


def position(activity: Sequence[Activity], book: AssumptionBook, given: Given) -> Position:
    """The sums up to a month's end, each month's points at that month's own price: a new price does not reach back."""
    allocated = Fraction(0)
    for each in activity:
        allocated += _allocated(each, book, given)
    issued = sum(each.issued + each.exchanged_in + each.added for each in activity)
    used = sum(each.used + each.exchanged_out for each in activity)
    return Position(allocated, issued, used, issued - used - sum(each.expired for each in activity))


def in_units(amount: Fraction, decimals: int) -> Decimal:
    """The amount rounded to `decimals`, half up, away from zero."""
    scaled = abs(amount) * 10**decimals
    whole = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    return Decimal(whole if amount >= 0 else -whole).scaleb(-decimals)


def _allocated(each: Activity, book: AssumptionBook, given: Given) -> Fraction:
    if each.month in given:
        return Fraction(given[each.month])
    if not each.issued:
        return Fraction(0)
    assumption = _in_force(book, (each.program, each.country), each.month)
    price = assumption.estimate.allocated_per_point
    if price is None:
        raise Refused(
            f"{assumption.name} names no price that is allocated to a point; give the amount of {each.month}:"
            f" --allocated {each.month}=AMOUNT"
        )
    return Fraction(price) * each.issued


def _in_force(book: AssumptionBook, pair: Pair, month: Month) -> Assumption:
    assumption = book.in_force(pair, month.last_day)
    if assumption is None:
        program, country = pair
        raise Refused(
            f"nothing is assumed of {program} in {country} by the end of {month}; set it with"
            f" `abacus report assumptions set --program {program} --country {country} --from {month}-01 …`"
        )
    return assumption


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
