"""An award recomputed from its own explanation and the card version that this names. Pure."""

from decimal import Decimal
from typing import Any

import orjson

from abacus.core.errors import AbacusError
from abacus.core.points import EXACT, ROUND, money, plain
from abacus.earning.formula import factors_of
from abacus.ledger.transfer import Transfer
from abacus.rates.book import CardBook
from abacus.rates.card import RateCard


def recompute(transfer: Transfer, book: CardBook) -> str | None:
    """What is wrong with the transfer's explanation, or nothing."""
    try:
        explanation: dict[str, Any] = orjson.loads(transfer.explanation)
        card = book.by_name(explanation["card"]).card
        faults = _faults(explanation, card)
    except (AbacusError, LookupError, TypeError, ValueError, ArithmeticError) as error:
        return f"the explanation cannot be recomputed: {type(error).__name__}: {error}"
    if explanation.get("points") != transfer.points:
        faults.append(f"explains {explanation.get('points')} points, the transfer has {transfer.points}")
    return f"the explanation does not hold: {'; '.join(faults)}" if faults else None


def _faults(explanation: dict[str, Any], card: RateCard) -> list[str]:
    if "granted_by" in explanation:
        return []  # a partner named the points; there is nothing to multiply
    return _fixed(explanation, card) if "fixed" in explanation else _calculated(explanation, card)


def _fixed(explanation: dict[str, Any], card: RateCard) -> list[str]:
    on_card = card.fixed_awards.get(explanation["fixed"])
    if on_card != explanation["points"]:
        return [f"{explanation['fixed']} is worth {on_card} on {explanation['card']}, not {explanation['points']}"]
    return []


def _calculated(explanation: dict[str, Any], card: RateCard) -> list[str]:
    recorded = [tuple(factor) for factor in explanation["factors"]]
    names = {kind: name for kind, name, _ in recorded}
    factors = factors_of(card, names["vertical"], names["cashless"], names["tier"])
    product: Decimal = money(explanation["amount"])
    for _, _, value in factors:
        product = EXACT.multiply(product, Decimal(value))
    expected = {
        "factors": list(factors),
        "product": plain(product),
        "rounding": str(card.rounding),
        "currency": card.currency,
        "points": ROUND[card.rounding](product),
    }
    found = {**explanation, "factors": recorded}
    return [f"{name} is {found.get(name)}, not {value}" for name, value in expected.items() if found.get(name) != value]
