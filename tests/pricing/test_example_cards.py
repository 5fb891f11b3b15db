"""The example cards give what the golden cases of Bob and Jane need."""

from datetime import datetime
from decimal import Decimal

import pytest

from abacus.cli.examples import example_cards
from abacus.core.points import EXACT
from abacus.pricing.decide.card import parse_card, to_document

CARDS = {card.scope: card for card in example_cards()}


@pytest.mark.parametrize(
    ("scope", "program", "currency", "months"),
    [
        ("ID", "OVO", "IDR", 3),
        ("MY", "GRP", "MYR", 6),
        ("PH", "GRP", "PHP", 6),
        ("SG", "GRP", "SGD", 6),
        ("TH", "GRP", "THB", 6),
        ("VN", "GRP", "VND", 6),
    ],
)
def test_six_countries(scope: str, program: str, currency: str, months: int) -> None:
    card = CARDS[scope]
    assert (card.program, card.currency, card.expiry_months) == (program, currency, months)
    assert card.effective_from == datetime(2026, 1, 1, tzinfo=card.zone)
    assert parse_card(to_document(card)) == card
    assert card.tier_policy is not None
    assert len(CARDS) == 6


@pytest.mark.parametrize(
    ("scope", "amount", "tier", "points"),
    [("SG", "15", "platinum", 180), ("ID", "150000", "gold", 60)],
    ids=["Bob", "Jane"],
)
def test_lunch_by_wallet(scope: str, amount: str, tier: str, points: int) -> None:
    card = CARDS[scope]
    product = Decimal(amount)
    for factor in (card.verticals["food"], card.eppf, card.payment_types["wallet"], card.tiers[tier]):
        product = EXACT.multiply(product, factor)
    assert product == points
