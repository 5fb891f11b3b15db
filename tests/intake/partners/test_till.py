"""What a member's points pay at a till, and the money that a spend names: one row a case."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any, TypeVar

import pytest

from abacus.core.sources import Agent
from abacus.intake.partners.decide.ask import Objection
from abacus.intake.partners.orders import PointQuoteOrder, SpendOrder, Target, point_quote_of, spend_of
from abacus.ledger.types.movement import Spend, Tender
from abacus.pricing.decide.card import PublishedCard
from tests.support.cards import SINGAPORE

CARD = PublishedCard(SINGAPORE, 7)
TARGET = Target("bob", "GRP", "SG", CARD, 500)
SILENT = TARGET._replace(card=PublishedCard(replace(SINGAPORE, point_value=None), 8))
OTHER = TARGET._replace(program="OLD")
OWING = TARGET._replace(available=-20)


Told = TypeVar("Told")


def refused_or(decide: Callable[[], Told]) -> Told | str:
    """What is decided; of an objection, its kind and the field."""
    try:
        return decide()
    except Objection as objection:
        return f"{objection.kind} {objection.pointer}"


@pytest.mark.parametrize(
    ("order", "target", "told"),
    [
        ({"points": 420}, TARGET, (420, "4.20")),
        ({"money": "4.205"}, TARGET, (420, "4.20")),
        ({}, TARGET, (500, "5.00")),
        ({}, OWING, (0, "0.00")),
        ({"points": 600}, TARGET, (600, "6.00")),
        ({"points": 420, "money": "4.20"}, TARGET, "contradiction /money"),
        ({"points": 420}, SILENT, "no-point-value /program"),
        ({"points": 420}, OTHER, "no-point-value /program"),
    ],
)
def test_a_quote_of_points(order: dict[str, Any], target: Target, told: tuple[int, str] | str) -> None:
    quote = refused_or(lambda: point_quote_of(PointQuoteOrder(member_id="bob", **order), target))
    assert (quote if isinstance(quote, str) else (quote.points, quote.money)) == told
    if not isinstance(quote, str):
        assert (quote.currency, quote.available, quote.card) == ("SGD", target.available, "SG@7")


def spent(target: Target = TARGET, **order: Any) -> Spend:
    return spend_of(SpendOrder(points=420, **order), target, "api:acme:1", Agent("acme", "partner:acme"))


@pytest.mark.parametrize(
    ("order", "target", "told"),
    [
        ({}, SILENT, None),
        ({"money": "4.2"}, TARGET, Tender(Decimal("4.20"), "SGD", "SG@7")),
        ({"money": "4.20", "price": "10.00"}, TARGET, Tender(Decimal("4.20"), "SGD", "SG@7", Decimal("10.00"))),
        ({"money": "4.20", "price": "4.20"}, TARGET, Tender(Decimal("4.20"), "SGD", "SG@7", Decimal("4.20"))),
        ({"money": "4.21"}, TARGET, "money-differs /money"),
        ({"money": "4.19"}, TARGET, "money-differs /money"),
        ({"money": "4.20", "price": "4.19"}, TARGET, "contradiction /price"),
        ({"price": "10.00"}, TARGET, "contradiction /price"),
        ({"money": "4.20"}, SILENT, "no-point-value /program"),
    ],
)
def test_the_money_that_a_spend_names(order: dict[str, Any], target: Target, told: Tender | str | None) -> None:
    assert refused_or(lambda: spent(target, **order).tender) == told


def test_the_money_is_among_the_facts_of_a_spend() -> None:
    """And a spend without money has the facts that it always had."""
    without, named, priced = spent(), spent(money="4.20"), spent(money="4.20", price="10.00")
    assert len({without.fingerprint, named.fingerprint, priced.fingerprint}) == 3
    assert spent(money="4.2").fingerprint == named.fingerprint
    assert without.fingerprint == "88fa6722abfccfa68e0a2d76b7b86c07"
