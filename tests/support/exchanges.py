"""Exchanges for tests: documents of programmes, what is published around them, and partners."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from abacus.cli.examples import example_cards
from abacus.core.clock import Clock
from abacus.documents.stated import Change
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.programme_reader import parse_programme
from abacus.exchanges.decide.publications import ExchangePublications
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.exchanges.publications import exchange_publications
from abacus.intake.partners.decide.partner import LIVE_KEY, Partner
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.types.limits import Limits
from abacus.platform.postgres import Pool
from abacus.pricing.decide.card import PublishedCard

NOW: Final = datetime.now(UTC).replace(microsecond=0)
DAY: Final = timedelta(days=1)
CARDS: Final = {card.scope: PublishedCard(card, 1) for card in example_cards()}
SKYMILES: Final[Mapping[str, Any]] = {
    "name": "skymiles",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": (NOW - DAY).isoformat(),
    "ends_at": (NOW + 30 * DAY).isoformat(),
    "partner": "skyline",
    "program": "GRP",
    "unit": "miles",
    "out": {"give": 5, "get": 2, "minimum": 1000, "multiple": 500, "maximum": 100_000, "price": "0.012"},
    "in": {"give": 2, "get": 3, "minimum": 1000, "multiple": 100, "maximum": 50_000, "price": "0.004"},
    "carrier": {"url": "https://loyalty.skyline.example/abacus"},
    "money": {"currency": "SGD", "tax_code": "ZR", "alert_below": "20000"},
}


def around(now: datetime = NOW) -> ExchangePublications:
    return ExchangePublications(now=now, cards=CARDS, partners={"skyline"}, segments={"regulars"})


def programme(**changed: Any) -> Programme:
    """A programme that is in force."""
    return parse_programme({**SKYMILES, **changed}, around()).numbered(1)


async def enter_partner(pool: Pool, clock: Clock, name: str = "skyline") -> None:
    """A partner whose programmes can be published."""
    partner = Partner(
        partner_id=name,
        name=name.title(),
        fixed_points=False,
        computed_points=True,
        countries=(),
        card_scope=None,
        requests_per_minute=600,
        signing_secret=None,
        created_at=clock.now(),
        created_by="person:ann",
        disabled_at=None,
    )
    await PartnerStore(pool, clock).create(partner, Limits(), LIVE_KEY.new())


async def run_programme(pool: Pool, document: Mapping[str, Any] = SKYMILES) -> Programme:
    """Publishes a version and approves it. The partner and the card of its country have to be there."""
    published, store = await exchange_publications(pool, NOW, to_private=True), ProgrammeStore(pool)
    (submitted,) = await store.publish([parse_programme(document, published)], published, Change("person:ann", NOW))
    named = submitted.document
    approval = Change("person:ann", NOW, approved_by="person:eve")
    return (await store.approve(named.name, named.version, published, approval)).document
