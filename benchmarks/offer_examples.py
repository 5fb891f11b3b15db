"""Offers of one country, as many as asked for, and items and members that ask for them."""

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Final

from abacus.engage.limits.types import Bound, Limits
from abacus.engage.offers.decide.asker import Asker, Question
from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.offer import (
    OPEN,
    Audience,
    Benefit,
    BenefitKind,
    Gate,
    Offer,
    Payer,
    Scope,
    Values,
)
from abacus.signals.events.types import VariableType
from abacus.signals.facts.decide.catalog import MEMBER, SEGMENT, TIER
from abacus.signals.rules.decide.types import AllOf, Condition, FactPlace, Operator, Rule, Side, looked_up

NOW: Final = datetime(2026, 11, 27, 12, tzinfo=UTC)
COUNTRY: Final = "SG"
CURRENCY: Final = "SGD"
PRODUCTS: Final = 50_000
SEGMENTS: Final = 200
INVITED_TO: Final = 10  # offers by invitation, for each member
_MERCHANTS: Final = 2_000
_BRANDS: Final = 500
_CATEGORIES: Final = (12, 60, 240)  # of each level
_TIERS: Final = ("silver", "gold", "platinum")
_CITIES: Final = tuple(f"city-{each}" for each in range(40))
_TIER: Final = looked_up(MEMBER, TIER, VariableType.TEXT)
_CITY: Final = Side("var.city", VariableType.TEXT, FactPlace.VARIABLE, "city")
_FEW: Final = 0.1  # a share of the offers


def offers(number: int) -> Iterator[tuple[Offer, Rule | None]]:
    """Each with its rule. Every tenth is by invitation, some are by code, and some want a tier, a segment or a city."""
    rng = random.Random(number)
    return (_offer(rng, each) for each in range(1, number + 1))


def offer(number: int, seed: int) -> tuple[Offer, Rule | None]:
    """Another version of an offer, which may be for something else."""
    return _offer(random.Random(seed), number)


def questions(number: int) -> Iterator[Question]:
    rng = random.Random(number)
    for each in range(number):
        price = round(100 * rng.lognormvariate(3, 1)) + 1
        item = _item(str(each), rng.randrange(PRODUCTS), price, rng.choice(_CITIES))
        yield Question(item, item.line, earns=price // 10)


def askers(number: int, offers_there: int) -> Iterator[Asker]:
    """Members of each tier, each in a tenth of the segments and invited to some offers."""
    rng = random.Random(number)
    for each in range(number):
        segments = frozenset(f"segment-{place}" for place in rng.sample(range(SEGMENTS), SEGMENTS // 10))
        yield Asker(
            COUNTRY,
            NOW,
            member_id=f"m{each:08}",
            tier=rng.choice(("base", *_TIERS)),
            admitted=frozenset(rng.sample(range(1, offers_there + 1), INVITED_TO)),
            in_segment=segments.__contains__,
            point_value=Fraction(1, 10),
        )


def _item(name: str, product: int, price: int, city: str) -> Item:
    merchant, brand, category = product % _MERCHANTS, product % _BRANDS, product % _CATEGORIES[-1]
    categories = tuple(f"level-{level}-{category % many}" for level, many in enumerate(_CATEGORIES))
    return Item(
        name,
        f"product-{product}",
        f"merchant-{merchant}",
        f"brand-{brand}",
        categories,
        price,
        CURRENCY,
        variables={"city": city},
    )


def _offer(rng: random.Random, number: int) -> tuple[Offer, Rule | None]:
    begins = NOW - timedelta(days=rng.randrange(30), hours=rng.randrange(24))
    audience = rng.choices((Audience.PUBLIC, Audience.INVITATION, Audience.CODE), (87, 10, 3))[0]
    offer = Offer(
        name=f"offer_{number}",
        country=COUNTRY,
        timezone="Asia/Singapore",
        starts_at=begins,
        ends_at=begins + timedelta(days=rng.choice((31, 60, 90))),
        benefit=_benefit(rng),
        scope=_scope(rng),
        limits=Limits(overall=Bound(runs=1000 * rng.randrange(1, 10))),
        payer=Payer("partner", f"merchant-{rng.randrange(_MERCHANTS)}"),
        audience=audience,
        code=f"CODE{number}" if audience is Audience.CODE else None,
        price=Gate(Decimal(rng.choice((5, 10, 15, 20, 30, 50, 100)))) if rng.random() < 3 * _FEW else OPEN,
        currency=CURRENCY,
        version=1,
        number=number,
    )
    if rng.random() < _FEW:
        offer = replace(offer, weekdays=frozenset(rng.sample(range(7), 5)), hours=((11 * 60, 21 * 60),))
    return offer, _rule(rng)


def _benefit(rng: random.Random) -> Benefit:
    match rng.randrange(20):
        case 0 | 1:
            return Benefit(BenefitKind.POINTS_TIMES, Decimal(rng.choice((2, 3, 5))), Decimal(1000))
        case 2:
            return Benefit(BenefitKind.POINTS_PLUS, Decimal(rng.choice((50, 100, 200))))
        case 3 | 4:
            return Benefit(BenefitKind.FIXED_PRICE, Decimal(rng.randrange(5, 60)) - Decimal("0.10"))
        case 5 | 6 | 7 | 8 | 9 | 10:
            return Benefit(BenefitKind.AMOUNT_OFF, Decimal(rng.choice((1, 2, 3, 4, 5, 6, 8, 10))))
        case _:
            percent = Decimal(rng.choice((5, 8, 10, 12, 15, 20, 25, 30)))
            return Benefit(BenefitKind.PERCENT, percent, Decimal(rng.choice((3, 4, 5, 8, 10, 15))))


def _scope(rng: random.Random) -> Scope:
    match rng.randrange(100):
        case each if each < 45:  # noqa: PLR2004  # the shares of the kinds
            some = frozenset(f"product-{rng.randrange(PRODUCTS)}" for _ in range(rng.randrange(1, 4)))
            return Scope(values=Values(products=some))
        case each if each < 75:  # noqa: PLR2004
            return Scope(
                values=Values(merchants=frozenset({f"merchant-{rng.randrange(_MERCHANTS)}"})), excepted=_excepted(rng)
            )
        case each if each < 87:  # noqa: PLR2004
            return Scope(values=Values(brands=frozenset({f"brand-{rng.randrange(_BRANDS)}"})))
        case each if each < 97:  # noqa: PLR2004
            level = rng.randrange(3)
            category = f"level-{level}-{rng.randrange(_CATEGORIES[level])}"
            return Scope(values=Values(categories=frozenset({category})), excepted=_excepted(rng))
        case _:
            return Scope(everything=True, excepted=_excepted(rng))


def _excepted(rng: random.Random) -> Values:
    return Values(brands=frozenset({f"brand-{rng.randrange(_BRANDS)}"})) if rng.random() < _FEW else Values()


def _rule(rng: random.Random) -> Rule | None:
    parts: list[Rule] = []
    if rng.random() < 2 * _FEW:
        parts.append(Condition(Operator.IN, _TIER, frozenset(_TIERS[rng.randrange(3) :])))
    if rng.random() < _FEW:
        name = f"segment.segment-{rng.randrange(SEGMENTS)}"
        parts.append(Condition(Operator.EQ, looked_up(SEGMENT, name, VariableType.BOOLEAN), rhs=True))
    if rng.random() < _FEW:
        parts.append(Condition(Operator.IN, _CITY, frozenset(rng.sample(_CITIES, 10))))
    return None if not parts else parts[0] if len(parts) == 1 else AllOf(tuple(parts))
