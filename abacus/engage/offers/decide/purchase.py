"""The points that the purchase of an item earns by the card of its country. Pure.

An item says its vertical by `var.vertical`, or by a category that the card prices; and how it is paid by
`var.payment_type`. Without that it earns at least what the lowest payment type of the card gives.
"""

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

from abacus.core.errors import SetAside
from abacus.core.points import EXACT, MAX_POINTS
from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.currencies import decimals_of, exact_units
from abacus.pricing.decide.card import PublishedCard, RateCard
from abacus.pricing.decide.formula import Rate, rate_of

VERTICAL: Final = "vertical"
PAYMENT_TYPE: Final = "payment_type"

_Kind: TypeAlias = tuple[str, str, str, str]


class Purchases:
    """Remembers each rate, of which there are as many as cards, verticals, payment types and tiers have together."""

    def __init__(self) -> None:
        self._rates: dict[_Kind, Rate | None] = {}

    def rate(self, item: Item, published: PublishedCard, tier: str) -> Rate | None:
        """None where the card does not price the item."""
        card = published.card
        vertical = _vertical(item, card)
        payment_type = _payment_type(item, card) if vertical is not None else None
        if vertical is None or payment_type is None:
            return None
        kind = published.name, vertical, payment_type, tier
        if kind not in self._rates:
            self._rates[kind] = _rate(published, vertical, payment_type, tier)
        return self._rates[kind]


def earned(units: int, rate: Rate | None, currency: str) -> int | None:
    """The points that `units`, the currency's smallest, earn; None without a rate, and beyond what an award has."""
    if rate is None:
        return None
    amount = Decimal(units).scaleb(-decimals_of(currency))
    points = rate.rounded(EXACT.multiply(amount, rate.multiplier))
    return points if points <= MAX_POINTS else None


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
    return next((each for each in item.categories if each in card.verticals), None)


def _payment_type(item: Item, card: RateCard) -> str | None:
    named = item.variables.get(PAYMENT_TYPE)
    if named is not None:
        return named if isinstance(named, str) and named in card.payment_types else None
    return min(card.payment_types, key=card.payment_types.__getitem__, default=None)


def _rate(published: PublishedCard, vertical: str, payment_type: str, tier: str) -> Rate | None:
    try:
        return rate_of(published, vertical, payment_type, tier)
    except SetAside:
        return None
