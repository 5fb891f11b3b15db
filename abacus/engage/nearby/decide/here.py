"""What is on offer at a place, and in the regions of a point. Pure."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final, NamedTuple

from abacus.core.points import plain
from abacus.engage.nearby.decide.clockwork import NEVER
from abacus.engage.offers.decide.currencies import decimals_of
from abacus.engage.offers.decide.purchase import Earning
from abacus.signals.places.decide.place import Place

MOST_SHOWN: Final = 3  # offers of a place


class Here(NamedTuple):
    """What an answer says of the offers at a place, as it is written there, and the number of them all. It holds until
    the clock changes something, in microseconds. It is degraded where offers may be missing, because a part of what
    they ask could not be read.
    """

    written: bytes
    in_all: int
    until: int = NEVER
    is_degraded: bool = False


class OnOffer(NamedTuple):
    """The categories and the brands of places that have something on offer, each with the number of these places. The
    rest as of `Here`.
    """

    categories: Sequence[tuple[str, int]]
    brands: Sequence[tuple[str, int]]
    until: int = NEVER
    is_degraded: bool = False


class PlacesOnOffer:
    """Places of which each is added once. A place counts for each of its categories, also the wider ones."""

    def __init__(self) -> None:
        self._sorts = Counter[tuple[tuple[str, ...], str | None]]()  # of places that have something on offer
        self._until = NEVER
        self._is_degraded = False

    def add(self, place: Place, here: Here) -> None:
        self._until = min(self._until, here.until)
        self._is_degraded |= here.is_degraded
        if here.in_all:
            self._sorts[place.categories, place.brand] += 1

    def counted(self) -> OnOffer:
        """Most places first."""
        categories, brands = Counter[str](), Counter[str]()
        for (named, brand), places in self._sorts.items():
            for each in named:
                categories[each] += places
            if brand is not None:
                brands[brand] += places
        return OnOffer(_ranked(categories), _ranked(brands), self._until, self._is_degraded)


def points_a_unit(earning: Earning | None, currency: str) -> str | None:
    """The points that a unit of money earns, before they are rounded."""
    if earning is None:
        return None
    exact = Fraction(earning.of_units * 10 ** decimals_of(currency), earning.over)
    return plain((Decimal(exact.numerator) / Decimal(exact.denominator)).normalize())


def _ranked(times: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(times.items(), key=lambda each: (-each[1], each[0])))
