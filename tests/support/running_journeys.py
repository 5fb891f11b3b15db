"""Journeys that run in a house: submitted and approved in one go."""

from datetime import timedelta
from typing import Any, Final

from abacus.core.clock import SystemClock
from abacus.engage.journeys.decide.journey_reader import parse_journey
from abacus.engage.journeys.journey_store import JourneyStore
from abacus.engage.journeys.kind import JOURNEYS
from abacus.engage.journeys.publications import journey_publications
from abacus.signals.events.decide.builtin import built_in
from tests.support.agreed import agree
from tests.support.running_campaigns import Place

ORDERS: Final = ["transactions/transaction.completed"]
DAYS: Final = timedelta(days=3)


async def run_journey(place: Place, **fields: Any) -> None:
    """It was approved a minute ago."""
    settings, now = place.settings, SystemClock().now()
    sources = built_in(
        transactions_topic=settings.transactions_topic,
        points_topic=settings.points_topic,
        tiers_topic=settings.tiers_topic,
    )
    around = await journey_publications(place.pool, sources, now)
    times = {"starts_at": (now - DAYS).isoformat(), "ends_at": (now + 10 * DAYS).isoformat()}
    heading = {"name": "welcome", "country": "SG", "timezone": "Asia/Singapore", "entry": {"on": ORDERS}}
    draft = parse_journey({**heading, **times, "begin": "hello", **fields}, around)
    await agree(place.pool, JOURNEYS, JourneyStore(place.pool), draft, around)
