"""The points that the purchase of an item earns by the card of its country. Pure.

An item says its vertical by `var.vertical`, or by a category that the card prices; and how it is paid by
`var.payment_type`. Without that it earns at least what the lowest payment type of the card gives.
"""

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from abacus.core.errors import SetAside
from abacus.core.points import MAX_POINTS, Rounding
from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.currencies import decimals_of, exact_units
from abacus.engage.offers.decide.saving import half_up, rounded_units
from abacus.pricing.decide.card import BASE_TIER, PublishedCard, RateCard
from abacus.pricing.decide.formula import rate_of
from abacus.signals.places.decide.country_map import TYPICAL_POINTS

_MOST_UNITS: Final = 10**15
VERTICAL: Final = "vertical"
PAYMENT_TYPE: Final = "payment_type"

_Kind: TypeAlias = tuple[str, str, str, str]


class Earning(NamedTuple):
    """What a kind of purchase earns, in whole numbers: so many points for each smallest unit of the currency and a
    constant by which it is rounded, over a common denominator.
    """

    of_units: int
    constant: int
    over: int


class Purchases:
    """Remembers what each kind earns. There are as many kinds as cards, verticals, payment types and tiers have
    together.
    """

    def __init__(self) -> None:
        self._earnings: dict[_Kind, Earning | None] = {}
        self._lowest: dict[str, str | None] = {}  # the payment types that give least, by card

    def earning(self, item: Item, published: PublishedCard, tier: str) -> Earning | None:
        """None where the card does not price the item."""
        vertical = _vertical(item, published.card)
        payment_type = self._payment_type(item, published) if vertical is not None else None
        if vertical is None or payment_type is None:
            return None
        kind = published.name, vertical, payment_type, tier
        if kind not in self._earnings:
            self._earnings[kind] = _earning(published, vertical, payment_type, tier)
        return self._earnings[kind]

    def _payment_type(self, item: Item, published: PublishedCard) -> str | None:
        there, named = published.card.payment_types, item.variables.get(PAYMENT_TYPE)
        if named is not None:
            return named if isinstance(named, str) and named in there else None
        if published.name not in self._lowest:
            self._lowest[published.name] = min(there, key=there.__getitem__, default=None)
        return self._lowest[published.name]


def earned(units: int, earning: Earning | None) -> int | None:
    """The points that `units`, the currency's smallest, earn; None where they earn none by the card, and beyond what an
    award has.
    """
    if earning is None:
        return None
    points = (units * earning.of_units + earning.constant) // earning.over
    return points if points <= MAX_POINTS else None


def typical_units(card: RateCard, said: Decimal | None) -> int:
    """What is typically spent at once, in the smallest units of the currency: what somebody has said, or else what
    earns `TYPICAL_POINTS` where the card gives least. No sum of money would fit every currency; the figures of a card
    fit its own.
    """
    if said is not None:
        return rounded_units(said, card.currency)
    rate = Fraction(card.eppf) * Fraction(card.tiers.get(BASE_TIER, 1))
    for multipliers in (card.verticals, card.payment_types):
        rate *= Fraction(min((each for each in multipliers.values() if each), default=Decimal(1)))
    exact = TYPICAL_POINTS * 10 ** decimals_of(card.currency) / (rate or 1)
    return min(max(1, half_up(exact.numerator, exact.denominator)), _MOST_UNITS)


def worth_of_a_point(published: PublishedCard) -> Fraction | None:
    """What a point pays, in the smallest units of the currency, where the card says so."""
    card = published.card
    return None if card.point_value is None else _exact_units(card.point_value.money, card.currency)


@lru_cache  # of which there are as many as cards with such a value: every question needs it
def _exact_units(money: Decimal, currency: str) -> Fraction:
    return exact_units(money, currency)


def _vertical(item: Item, card: RateCard) -> str | None:
    named = item.variables.get(VERTICAL)
    if named is not None:
        return named if isinstance(named, str) and named in card.verticals else None
    for each in item.categories:
        if each in card.verticals:
            return each
    return None


def _earning(published: PublishedCard, vertical: str, payment_type: str, tier: str) -> Earning | None:
    try:
        rate = rate_of(published, vertical, payment_type, tier)
    except SetAside:
        return None
    of_units, over = rate.multiplier.as_integer_ratio()
    over *= 10 ** decimals_of(published.card.currency)
    match published.card.rounding:
        case Rounding.FLOOR:
            return Earning(of_units, 0, over)
        case Rounding.HALF_UP:
            return Earning(2 * of_units, over, 2 * over)
        case Rounding.CEIL:
            return Earning(of_units, over - 1, over)
