"""What points buy in one direction: exact in integers, and rounding costs the member nothing. Pure."""

from enum import StrEnum
from typing import NamedTuple

from abacus.core.errors import Refused


class Ratio(NamedTuple):
    """`give` points of the giver's buy `get` of the taker's."""

    give: int
    get: int


class Terms(NamedTuple):
    """The giver parts with a multiple of `multiple` points, at least `minimum` and at most `maximum`."""

    ratio: Ratio
    minimum: int
    multiple: int
    maximum: int

    @property
    def fewest(self) -> int:
        """The first allowed step from the minimum on."""
        return self._in_steps(self.minimum)

    def credit_for(self, points: int) -> int:
        return points * self.ratio.get // self.ratio.give

    def fewest_for(self, credit: int) -> int:
        """The fewest points, in allowed steps, that buy this credit."""
        needed = -(-credit * self.ratio.give // self.ratio.get)
        return self._in_steps(max(needed, self.minimum))

    def _in_steps(self, points: int) -> int:
        return -(-points // self.multiple) * self.multiple


class Amounts(NamedTuple):
    """The giver's points that are taken, and the taker's points that they buy."""

    debit: int
    credit: int


class Unfit(StrEnum):
    """Why an amount cannot be exchanged."""

    MINIMUM = "minimum"
    MULTIPLE = "multiple"
    MAXIMUM = "maximum"
    NOTHING_ARRIVES = "nothing-arrives"


class UnfitAmount(Refused):
    """The amount does not fit the terms."""

    def __init__(self, unfit: Unfit, detail: str) -> None:
        super().__init__(detail)
        self.unfit = unfit


def by_points(terms: Terms, points: int) -> Amounts:
    """For as many points, or fewer where fewer buy the same. Raises `UnfitAmount`."""
    if points < terms.minimum:
        raise UnfitAmount(Unfit.MINIMUM, f"{points} points: at least {terms.minimum} are exchanged")
    if points % terms.multiple:
        raise UnfitAmount(Unfit.MULTIPLE, f"{points} points: only multiples of {terms.multiple} are exchanged")
    _check_maximum(terms, points)
    return _amounts(terms, points)


def by_target(terms: Terms, target: int) -> Amounts:
    """For what buys at least the target. Raises `UnfitAmount`."""
    points = terms.fewest_for(target)
    _check_maximum(terms, points)
    return _amounts(terms, points)


def _check_maximum(terms: Terms, points: int) -> None:
    if points > terms.maximum:
        raise UnfitAmount(Unfit.MAXIMUM, f"{points} points: at most {terms.maximum} are exchanged at once")


def _amounts(terms: Terms, points: int) -> Amounts:
    credit = terms.credit_for(points)
    if credit == 0:
        raise UnfitAmount(Unfit.NOTHING_ARRIVES, f"{points} points buy nothing: {terms.ratio.give} buy one or more")
    return Amounts(terms.fewest_for(credit), credit)
