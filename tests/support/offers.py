"""Offers for tests: documents, and what is published around them."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.documents.stated import Change
from abacus.engage.categories.decide.tree import parse_categories
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.offer_reader import parse_offer
from abacus.engage.offers.decide.publications import OfferPublications, Spots
from abacus.engage.offers.offer_store import OfferStore
from abacus.platform.postgres import Pool
from abacus.pricing.decide.card import PublishedCard
from abacus.signals.counters.decide.definition_document import parse_definition
from abacus.signals.events.types import VariableType
from tests.support.campaigns import COUNTER, sources

NOW: Final = datetime(2026, 11, 22, 12, tzinfo=UTC)
CATEGORIES: Final[Mapping[str, Any]] = {
    "country": "SG",
    "categories": {"food": {"pizza": ["deep", "thin"], "noodles": []}, "rides": {}},
}
PIZZA: Final[Mapping[str, Any]] = {
    "id": "1",
    "product": "pizza",
    "merchant": "m-17",
    "brand": "oven",
    "categories": ["food"],
    "price": "12.00",
    "currency": "SGD",
}
LUNCH: Final[Mapping[str, Any]] = {
    "name": "lunch_20",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": "2026-11-01T00:00:00+08:00",
    "ends_at": "2036-12-01T00:00:00+08:00",
    "audience": "public",
    "benefit": {"percent": "20", "cap": "5"},
    "scope": {"categories": ["food"], "except": {"categories": ["noodles"]}},
    "limits": {"uses": {"overall": 20_000, "member_day": 1}},
    "paid_by": {"cost_centre": "marketing"},
}


_SPOTS: Final[Spots] = {"places": {"tanjong": "SG", "bangsar": "MY"}, "regions": {"centre": "SG"}}


async def _sought(_: Mapping[str, Collection[str]]) -> Spots:
    return _SPOTS


def publications(now: datetime = NOW) -> OfferPublications:
    cards = {card.scope: PublishedCard(card, 1) for card in example_cards()}
    return OfferPublications(
        now,
        cards,
        {"SG": parse_categories(CATEGORIES)},
        {"rides": parse_definition(COUNTER, sources()).published(1, NOW)},
        frozenset({"club"}),
        {"risk": VariableType.INTEGER},
        pools={"lunch_20": "SG"},
        spots=_SPOTS,
        seek=_sought,
    )


def document(**changes: Any) -> dict[str, Any]:
    """A fifth off lunch, with other fields; a field of None is left out."""
    return {name: value for name, value in {**LUNCH, **changes}.items() if value is not None}


def offer(**changes: Any) -> Offer:
    return parse_offer(document(**changes), publications())


async def run_offers(pool: Pool, *documents: Mapping[str, Any]) -> None:
    """Publishes these offers, or versions of them, and approves each at once."""
    now = SystemClock().now()
    store, around = OfferStore(pool), publications(now)
    for each in documents:
        (submitted,) = await store.publish([parse_offer(each, around)], around, Change("person:ann", now))
        made = submitted.document
        await store.approve(made.name, made.version, around, Change("person:ann", now, approved_by="person:ben"))
