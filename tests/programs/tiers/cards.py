"""Rate cards for the tests of this room: one country with half-year periods; a test may change its fields."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard, RateCard, TierPolicy, parse_card

THRESHOLDS: Mapping[str, int] = {"silver": 300, "gold": 1500, "platinum": 4500}


def policy(months: int = 6, thresholds: Mapping[str, int] = THRESHOLDS) -> TierPolicy:
    return TierPolicy(months, thresholds)  # type: ignore[arg-type]  # plain numbers for points


def card(
    scope: str = "SG",
    since: datetime = datetime(2020, 1, 1, tzinfo=UTC),
    **changed: Any,
) -> RateCard:
    document = {
        "scope": scope,
        "program": "GRP",
        "currency": "SGD",
        "timezone": "Asia/Singapore",
        "effective_from": since.isoformat(),
        "eppf": "1",
        "rounding": "floor",
        "expiry_months": 6,
        "verticals": {"rides": "1"},
        "payment_types": {"wallet": "1"},
        "tiers": {"member": "1", "silver": "1.5", "gold": "2", "platinum": "3"},
        "tier_policy": {"period_months": 6, "thresholds": dict(THRESHOLDS)},
        **changed,
    }
    return parse_card({name: value for name, value in document.items() if value is not None})


def book(*cards: RateCard) -> CardBook:
    versions: dict[str, int] = {}
    published = []
    for each in cards or (card(),):
        versions[each.scope] = versions.get(each.scope, 0) + 1
        published.append(PublishedCard(each, versions[each.scope]))
    return CardBook(published)
