"""Campaigns for tests: documents, and what is published around them."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from abacus.cli.examples import example_cards
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.campaign_reader import parse_campaign
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.offers.decide.invited import OfferHead
from abacus.engage.rewards.decide.granted import RewardHead
from abacus.pricing.decide.card import PublishedCard
from abacus.signals.counters.decide.definition_document import parse_definition
from abacus.signals.events.decide.builtin import built_in
from abacus.signals.events.decide.source import Source, parse_source
from abacus.signals.events.types import VariableType

NOW: Final = datetime(2026, 11, 22, 12, tzinfo=UTC)
DAY: Final = timedelta(days=1)

BUILT_IN: Final = tuple(built_in(transactions_topic="t", points_topic="p", tiers_topic="x"))
RIDES: Final[Mapping[str, Any]] = {
    "source": "rides",
    "topic": "rides",
    "fields": {"type": "/type", "id": "/id", "time": "/at", "member": "/member", "country": "/country"},
    "types": {
        "ride.done": {"city": "text", "km": "decimal", "minutes": "integer", "shared": "boolean", "picked_up": "time"},
        "ride.cancelled": {"city": "text", "by": "text"},
        "ride.praised": {"city": "text", "km": "decimal"},
    },
}
CROWD: Final[Mapping[str, Any]] = {
    "source": "crowd",
    "topic": "crowd",
    "fields": {"type": "/type", "id": "/id", "time": "/at"},
    "types": {"crowd.seen": {"city": "text"}},
}
COUNTER: Final = {"id": 1, "name": "rides", "template": "rides:{member_id}", "on": ["rides/ride.done"]}
NAMES: Final = (frozenset({"club"}), frozenset({"crm"}), {"risk": VariableType.INTEGER})
OFFERS: Final = {
    "lunch_invited": OfferHead("SG", "invitation"),
    "lunch_20": OfferHead("SG", "public"),
    "makan": OfferHead("ID", "invitation"),
}
REWARDS: Final = {
    "coffee": RewardHead("SG", 500, gives_points=False),
    "miles": RewardHead("SG", 500, gives_points=True),
    "kopi": RewardHead("ID", 500, gives_points=False),
}
THIRD_ORDER: Final[Mapping[str, Any]] = {
    "name": "third_order",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": "2026-11-01T00:00:00+08:00",
    "ends_at": "2036-12-01T00:00:00+08:00",
    "on": ["transactions/transaction.completed"],
    "when": {"operator": "eq", "lhs": "var.vertical", "rhs": "mart"},
    "steps": [
        {"at": 2, "do": [{"tell": {"en": "One more\nYour next order earns 500 points."}}]},
        {"at": 3, "do": [{"award": {"points": 500}}]},
    ],
    "limits": {"runs": {"member": 2}, "budget": {"overall": "500", "cost_of_point": "0.01"}},
}


def sources() -> Mapping[str, Source]:
    published = [parse_source(document).published(1) for document in (RIDES, CROWD)]
    return {each.name: each for each in (*published, *BUILT_IN)}


def publications(now: datetime = NOW) -> Publications:
    definition = parse_definition(COUNTER, sources()).published(1, NOW)
    cards = {card.scope: PublishedCard(card, 1) for card in example_cards()}
    return Publications(sources(), now, cards, {"rides": definition}, *NAMES, offers=OFFERS, rewards=REWARDS)


def document(**changes: Any) -> dict[str, Any]:
    """The third order, with other fields; a field of None is left out."""
    return {name: value for name, value in {**THIRD_ORDER, **changes}.items() if value is not None}


def campaign(**changes: Any) -> Campaign:
    return parse_campaign(document(**changes), publications())


def publishing(name: str, on: str, type_: str) -> dict[str, Any]:
    """A campaign that answers to one type of events by another."""
    deed = {"publish": {"type": type_, "var": {"city": "var.city"}}}
    return document(name=name, on=[on], when=None, steps=[{"do": [deed]}], limits={"unlimited": True})
