"""The points that a step of a campaign awards for an event, and how they follow from it. Pure."""

from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple, get_args

from abacus.core.errors import Reason, SetAside
from abacus.core.points import MAX_POINTS, plain
from abacus.engage.actions.decide.deeds import Award, FixedPoints, MultipleOfEarned, OwnFormula
from abacus.pricing.decide.card import PublishedCard
from abacus.pricing.decide.formula import CAMPAIGN_ENTRY, campaign_worth, factor_of, factors_of
from abacus.pricing.explanation.types import CampaignFormula, Factor, FactorName
from abacus.signals.events.types import Event


class Worth(NamedTuple):
    """Points of the card's program, and the formula that they follow from, where they are not fixed."""

    points: int
    card: PublishedCard
    formula: CampaignFormula | None = None


def needs_tier(award: Award) -> bool:
    """Whether the points depend on the member's tier."""
    match award.worth:
        case FixedPoints():
            return False
        case MultipleOfEarned():
            return True
        case OwnFormula(factors):
            return "tier" not in factors


def worth_of(award: Award, event: Event, published: PublishedCard, tier: str) -> Worth:
    """The worth of an award for an event, by the card in force. Raises `SetAside` for a transaction that the card does
    not price.
    """
    match award.worth:
        case FixedPoints(points):
            return Worth(points, published)
        case MultipleOfEarned(multiple):
            return _by_formula(event, published, factors_of(published.card, *_kind(event), tier), multiple)
        case OwnFormula(own):
            card, (vertical, payment_type) = published.card, _kind(event)
            entries = {"vertical": vertical, "eppf": card.scope, "cashless": payment_type, "tier": tier}
            factors = tuple(
                (name, CAMPAIGN_ENTRY, plain(own[name])) if name in own else factor_of(card, name, entries[name])
                for name in get_args(FactorName)
            )
            return _by_formula(event, published, factors, Decimal(1))


def _by_formula(event: Event, published: PublishedCard, factors: tuple[Factor, ...], multiple: Decimal) -> Worth:
    card, currency = published.card, event.variables.get("currency")
    amount = event.variables.get("amount")
    if not isinstance(amount, Decimal) or amount < 0:
        raise SetAside(Reason.INVALID, f"{event.key} has no amount that points follow from")
    if currency != card.currency:
        raise SetAside(Reason.UNKNOWN_CURRENCY, f"currency {currency}; the card of {card.scope} is {card.currency}")
    formula = CampaignFormula(
        amount=plain(amount),
        currency=card.currency,
        factors=factors,
        product="0",
        rounding=card.rounding,
        multiple=plain(multiple),
    )
    product, points = campaign_worth(formula)
    if points > MAX_POINTS:
        raise SetAside(Reason.OUT_OF_RANGE, f"{points} points; one award carries at most {MAX_POINTS}")
    return Worth(points, published, replace(formula, product=product))


def _kind(event: Event) -> tuple[str, str]:
    return str(event.variables.get("vertical")), str(event.variables.get("payment_type"))
