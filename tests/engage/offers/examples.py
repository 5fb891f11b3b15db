"""Offers and items as tests write them."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from abacus.engage.limits.types import Limits
from abacus.engage.offers.decide.asker import Asker, Question
from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.offer import Benefit, BenefitKind, Offer, Payer, Scope, Values

NOW: Final = datetime(2026, 11, 27, 12, tzinfo=UTC)
ASKER: Final = Asker("SG", NOW)
PERCENT, AMOUNT, FIXED = BenefitKind.PERCENT, BenefitKind.AMOUNT_OFF, BenefitKind.FIXED_PRICE
FREE, TIMES, PLUS = BenefitKind.FREE_ITEM, BenefitKind.POINTS_TIMES, BenefitKind.POINTS_PLUS
EVERYTHING: Final = Scope(everything=True)
_OFFER: Final = Offer(
    name="offer_1",
    country="SG",
    timezone="Asia/Singapore",
    starts_at=datetime(2026, 11, 1, tzinfo=UTC),
    ends_at=datetime(2026, 12, 31, tzinfo=UTC),
    benefit=Benefit(BenefitKind.PERCENT, Decimal(10)),
    scope=EVERYTHING,
    limits=Limits(),
    payer=Payer("cost_centre", "marketing"),
    currency="SGD",
    version=1,
)


def offer(number: int, benefit: Benefit, **changes: Any) -> Offer:
    return replace(_OFFER, name=f"offer_{number}", number=number, benefit=benefit, **changes)


def benefit(kind: BenefitKind, figure: str = "0", cap: str | None = None) -> Benefit:
    return Benefit(kind, Decimal(figure), None if cap is None else Decimal(cap))


def within(*keys: str) -> Values:
    """`category food`, `region centre` and the like."""
    split = [each.split(" ") for each in keys]
    kinds = "product", "merchant", "brand", "category", "place", "region"
    return Values(*(frozenset(value for kind, value in split if kind == each) for each in kinds))


def item(price: int, quantity: int = 1, **changes: Any) -> Item:
    return Item("1", "p1", "m1", "b1", ("food", "asian", "noodles"), price, "SGD", quantity)._replace(**changes)


def question(of: Item, **changes: Any) -> Question:
    return Question(of, of.line)._replace(**changes)
