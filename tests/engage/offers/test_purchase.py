"""The points that an item earns, as the card prices it."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from abacus.core.points import Rounding
from abacus.engage.offers.decide.currencies import money_text
from abacus.engage.offers.decide.purchase import Purchases, earned, typical_units
from abacus.pricing.decide.card import PublishedCard, parse_card
from abacus.pricing.decide.formula import rate_of, worth
from tests.engage.offers.examples import item

FIGURES: dict[str, Any] = {
    "scope": "SG",
    "program": "GRP",
    "currency": "SGD",
    "timezone": "Asia/Singapore",
    "effective_from": datetime(2026, 1, 1, tzinfo=UTC),
    "eppf": "1",
    "rounding": "floor",
    "expiry_months": 6,
    "verticals": {"food": "2", "rides": "1"},
    "payment_types": {"wallet": "2", "cash": "1"},
    "tiers": {"member": "1", "gold": "2.25"},
}
CARD = PublishedCard(parse_card(FIGURES), 1)


@pytest.mark.parametrize(
    ("categories", "variables", "tier", "units", "points"),
    [
        (("food", "noodles"), {}, "member", 1200, 24),  # by a category, and the lowest payment type
        (("noodles", "food"), {}, "member", 1200, 24),
        (("food",), {"payment_type": "wallet"}, "member", 1200, 48),
        (("food",), {"payment_type": "wallet"}, "gold", 1299, 116),  # 116.91
        (("food",), {"vertical": "rides"}, "gold", 1200, 27),
        (("food",), {}, "member", 0, 0),
        (("toys",), {}, "member", 1200, None),
        ((), {}, "member", 1200, None),
        (("food",), {"vertical": "toys"}, "member", 1200, None),
        (("food",), {"vertical": 7}, "member", 1200, None),
        (("food",), {"payment_type": "shells"}, "member", 1200, None),
        (("food",), {}, "emerald", 1200, None),
        (("food",), {}, "member", 10**18, None),  # more than an award carries
    ],
)
def test_what_an_item_earns(
    categories: tuple[str, ...], variables: dict[str, Any], tier: str, units: int, points: int | None
) -> None:
    purchases, bought = Purchases(), item(1200, categories=categories, variables=variables)
    told = [earned(units, purchases.earning(bought, CARD, tier)) for _ in range(2)]
    assert told == [points, points], "it is remembered"


@pytest.mark.parametrize("rounding", Rounding)
def test_an_item_earns_what_its_purchase_is_awarded(rounding: Rounding) -> None:
    published = PublishedCard(replace(CARD.card, rounding=rounding), 1)
    earning, rate = Purchases().earning(item(1200), published, "gold"), rate_of(published, "food", "cash", "gold")
    for units in range(500):
        points, _ = worth(money_text(units, "SGD"), rate)
        assert earned(units, earning) == points


@pytest.mark.parametrize(
    ("figures", "said", "units"),
    [
        ({}, None, 20_00),  # by rides, paid in cash
        ({}, "12.5", 12_50),
        ({"currency": "IDR", "eppf": "0.001"}, None, 20_000_00),
        ({"currency": "JPY", "eppf": "0.03", "verticals": {"food": "0", "rides": "0.5"}}, None, 1_333),
        ({"currency": "KWD", "payment_types": {"cash": "10", "wallet": "20"}}, None, 2_000),
        ({"currency": "KWD"}, "1.2345", 1_235),
        ({"eppf": "100000"}, None, 1),
    ],
)
def test_a_typical_purchase_fits_the_currency_of_the_card(
    figures: dict[str, Any], said: str | None, units: int
) -> None:
    card = parse_card({**FIGURES, **figures})
    assert typical_units(card, None if said is None else Decimal(said)) == units
