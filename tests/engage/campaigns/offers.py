"""Campaigns and events for tests."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from abacus.cli.examples import example_cards
from abacus.engage.actions.decide.deeds import Award
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.campaign_reader import parse_campaign
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.campaigns.decide.run import Matched, Run
from abacus.engage.campaigns.decide.worth import worth_of
from abacus.engage.campaigns.effects import Effects
from abacus.pricing.decide.card import PublishedCard
from abacus.signals.events.decide.builtin import built_in
from abacus.signals.events.types import Event
from tests.support.campaigns import OFFERS, REWARDS

NOW = datetime(2026, 3, 2, 4, 0, tzinfo=UTC)  # noon of a Monday in Singapore
TOPICS = {"transactions_topic": "transactions", "points_topic": "points", "tiers_topic": "tiers"}
SOURCES = {source.name: source for source in built_in(**TOPICS)}
CARDS = {card.scope: PublishedCard(card, 1) for card in example_cards()}
AROUND = Publications(SOURCES, NOW, CARDS, segments={"regulars"}, webhooks={"crm"}, offers=OFFERS, rewards=REWARDS)

POINTS = {"award": {"points": 500}}
MARKET: dict[str, Any] = {
    "name": "market",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": "2026-03-01T00:00:00+08:00",
    "ends_at": "2026-04-01T00:00:00+08:00",
    "on": ["transactions/transaction.completed"],
    "steps": [{"do": [POINTS]}],
    "limits": {"unlimited": True},
}


def campaign(version: int = 1, **changes: Any) -> Campaign:
    """A campaign with these fields; None leaves a field out."""
    document = {name: value for name, value in {**MARKET, **changes}.items() if value is not None}
    return parse_campaign(document, AROUND).numbered(version)


def order(number: int, member_id: str = "bob", after: timedelta = timedelta(0), **variables: Any) -> Event:
    """A completed transaction."""
    values: Mapping[str, Any] = {
        "source": "mart",
        "transaction_id": f"T-{number}",
        "amount": Decimal("15.00"),
        "currency": "SGD",
        "vertical": "food",
        "payment_type": "wallet",
        **variables,
    }
    return Event("transactions", "transaction.completed", f"mart:T-{number}", member_id, "SG", NOW + after, values)


def matched(of: Campaign, event: Event) -> Matched:
    """The event as one for which the campaign's conditions hold."""
    worth = {
        step.number: worth_of(action.deed, event, CARDS["SG"], "member")
        for step in of.steps
        for action in step.actions
        if isinstance(action.deed, Award)
    }
    return Matched(of, event.member_id or "", event, worth=worth)


def all_matched(of: Campaign, events: Sequence[Event]) -> list[Matched]:
    return [matched(of, event) for event in events]


async def decide(effects: Effects, of: Sequence[Matched]) -> Sequence[Run]:
    """What comes of events, all of whose servers are there."""
    decided = await effects.decide(of)
    assert not decided.waiting
    return decided.runs
