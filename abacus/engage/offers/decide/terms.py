"""The terms that many offers share: what is given, and what is asked of the item, the basket and the tier. Pure."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from math import ceil
from typing import Final, NamedTuple

from abacus.engage.offers.decide.asked import Asked
from abacus.engage.offers.decide.currencies import exact_units
from abacus.engage.offers.decide.offer import OPEN, Gate, Offer
from abacus.engage.offers.decide.reason import Reason
from abacus.engage.offers.decide.saving import UNBOUND, Formula, formula_of

_SHARED: Final = 100_000


class Terms(NamedTuple):
    """Each range is from the first number on, and below the second."""

    formula: Formula
    price_from: int = 0
    price_below: int = UNBOUND
    pieces_from: int = 0
    pieces_below: int = UNBOUND
    basket_from: int = 0
    tiers: frozenset[str] | None = None  # None for all

    def sums(self) -> Iterator[int]:
        """The sums of money that are named."""
        named = self.price_from, self.price_below, self.basket_from, self.formula.cap
        return (each for each in named if 0 < each < UNBOUND)


def terms_of(offer: Offer, tiers: frozenset[str] | None) -> Terms:
    """The terms of an offer. Equal terms are shared."""
    currency = offer.currency
    price_from, price_below = _range(offer.price, currency)
    pieces_from, pieces_below = _range(offer.quantity, None)
    return _shared_terms(
        Terms(
            formula_of(offer.benefit, currency),
            price_from,
            price_below,
            pieces_from,
            pieces_below,
            ceil(exact_units(offer.basket_minimum, currency)) if offer.basket_minimum else 0,
            tiers,
        )
    )


def _range(gate: Gate, currency: str | None) -> tuple[int, int]:
    """The whole numbers that the gate lets through: from the first on, and below the second."""
    if gate is OPEN:
        return 0, UNBOUND
    least, below = (
        None if each is None else ceil(each if currency is None else exact_units(each, currency)) for each in gate
    )
    return least or 0, UNBOUND if below is None else below


@lru_cache(maxsize=_SHARED)
def _shared_terms(terms: Terms) -> Terms:
    return terms


class TermsGate(NamedTuple):
    """A condition that offers with equal terms share."""

    reason: Reason
    opens: Callable[[Terms, Asked], bool]


def _in_price(terms: Terms, asked: Asked) -> bool:
    return terms.price_from <= asked.price < terms.price_below


def _in_quantity(terms: Terms, asked: Asked) -> bool:
    return terms.pieces_from <= asked.pieces < terms.pieces_below


def _in_basket(terms: Terms, asked: Asked) -> bool:
    return asked.basket >= terms.basket_from


def _in_tier(terms: Terms, asked: Asked) -> bool:
    return terms.tiers is None or asked.has_tier(terms.tiers)


_PRICE: Final = TermsGate(Reason.PRICE, _in_price)
_QUANTITY: Final = TermsGate(Reason.QUANTITY, _in_quantity)
_BASKET: Final = TermsGate(Reason.BASKET, _in_basket)
_TIER: Final = TermsGate(Reason.TIER, _in_tier)
_GATES: Final = (_PRICE, _QUANTITY, _BASKET, _TIER)


def gates_of_terms(terms: Terms) -> tuple[TermsGate, ...]:
    """The conditions that terms have at all."""
    return _gates(
        terms.price_from > 0 or terms.price_below < UNBOUND,
        terms.pieces_from > 1 or terms.pieces_below < UNBOUND,
        terms.basket_from > 0,
        terms.tiers is not None,
    )


@lru_cache
def _gates(*there: bool) -> tuple[TermsGate, ...]:
    return tuple(gate for gate, is_there in zip(_GATES, there, strict=True) if is_there)
