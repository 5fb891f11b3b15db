"""The points of a transaction: points = amount x vertical x EPPF x cashless x tier, rounded once, at the end.

Everything here is exact decimal arithmetic. The factors of one card, vertical, payment type and tier are multiplied
and written down once (`Rate`) and then serve every transaction of that kind.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final, NamedTuple, TypeAlias, get_args

import orjson

from abacus.core.errors import Reason, SetAside
from abacus.core.points import EXACT, MAX_POINTS, ROUND, Multiplier, Points, plain
from abacus.pricing.decide.card import PublishedCard, RateCard
from abacus.pricing.explanation.text import text_of
from abacus.pricing.explanation.types import CampaignFormula, Factor, FactorName, Fixed

CAMPAIGN_ENTRY: Final = "campaign"  # of a multiplier that is not the card's
_LACKED: Final[Mapping[FactorName, tuple[str, Reason]]] = {
    "vertical": ("vertical", Reason.UNKNOWN_VERTICAL),
    "eppf": ("eppf", Reason.INVALID),
    "cashless": ("payment type", Reason.UNKNOWN_PAYMENT_TYPE),
    "tier": ("tier", Reason.UNKNOWN_TIER),
}


class Rate(NamedTuple):
    """The multiplier of a kind of transaction, and the parts of its explanation that never vary."""

    multiplier: Decimal
    rounded: Callable[[Decimal], int]
    explained_before: str  # from the currency to the product's opening quote
    explained_after: str  # from the product's closing quote to the points


# Points, and the explanation that anyone can recompute them from (JSON text).
Worth: TypeAlias = tuple[int, bytes]


def factors_of(card: RateCard, vertical: str, payment_type: str, tier: str) -> tuple[Factor, ...]:
    """The four factors as the explanation lists them. Raises `SetAside` for a kind that the card does not price."""
    entries = zip(get_args(FactorName), (vertical, card.scope, payment_type, tier), strict=True)
    return tuple(factor_of(card, name, entry) for name, entry in entries)


def factor_of(card: RateCard, name: FactorName, entry: str) -> Factor:
    """A factor by an entry of the card. Raises `SetAside` for an entry that the card lacks."""
    value = entry_on_card(card, name, entry)
    if value is None:
        word, reason = _LACKED[name]
        raise SetAside(reason, f"{word} {entry!r} is not on the card of {card.scope}")
    return name, entry, plain(value)


def rate_of(published: PublishedCard, vertical: str, payment_type: str, tier: str) -> Rate:
    """The rate of one kind of transaction under one card."""
    card = published.card
    factors = factors_of(card, vertical, payment_type, tier)
    multiplier = Decimal(1)
    for _, _, value in factors:
        multiplier = EXACT.multiply(multiplier, Decimal(value))
    listed = orjson.dumps(factors).decode()
    return Rate(
        multiplier,
        ROUND[card.rounding],
        f'","currency":"{card.currency}","card":"{published.name}","factors":{listed},"product":"',
        f'","rounding":"{card.rounding}","points":',
    )


def worth(amount: str, rate: Rate) -> Worth:
    """The points of an amount at a rate, explained. `amount` is a plain decimal that reading has checked.

    The text is that of `Calculated`, put together from parts because every transaction needs one.
    """
    product = EXACT.multiply(Decimal(amount), rate.multiplier)
    points = rate.rounded(product)
    if points > MAX_POINTS:
        raise SetAside(Reason.OUT_OF_RANGE, f"{points} points; one award carries at most {MAX_POINTS}")
    text = f'{{"v":1,"amount":"{amount}{rate.explained_before}{plain(product)}{rate.explained_after}{points}}}'
    return points, text.encode()


def fixed_worth(published: PublishedCard, type_: str, points: Points) -> Worth:
    """The points that a card gives for an event, explained."""
    return points, text_of(Fixed(fixed=type_, card=published.name, points=points))


def campaign_worth(formula: CampaignFormula) -> tuple[str, Points]:
    """The product and the points of a campaign's formula."""
    product = Decimal(formula.amount)
    for _, _, value in formula.factors:
        product = EXACT.multiply(product, Decimal(value))
    rounded = ROUND[formula.rounding]
    return plain(product), Points(rounded(EXACT.multiply(Decimal(rounded(product)), Decimal(formula.multiple))))


def entry_on_card(card: RateCard, name: str, entry: str) -> Multiplier | None:
    """A multiplier of the card; None for an entry that it lacks."""
    match name:
        case "vertical":
            return card.verticals.get(entry)
        case "cashless":
            return card.payment_types.get(entry)
        case "tier":
            return card.tiers.get(entry)
        case "eppf":
            return card.eppf if entry == card.scope else None
        case _:
            return None
