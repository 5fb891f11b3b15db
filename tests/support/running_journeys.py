"""Journeys that run in a house: submitted and approved in one go."""

from datetime import datetime, timedelta
from typing import Any, Final

from abacus.core.clock import SystemClock
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.journey_reader import parse_journey
from abacus.engage.journeys.journey_store import JourneyStore
from abacus.engage.journeys.kind import JOURNEYS
from abacus.engage.journeys.publications import journey_publications
from abacus.signals.events.wiring import built_in_sources
from tests.support.agreed import agree
from tests.support.running_campaigns import Place

ORDERS: Final = ["transactions/transaction.completed"]
DAYS: Final = timedelta(days=3)


async def run_journey(place: Place, *, approved_at: datetime | None = None, **fields: Any) -> Journey:
    """The version, as it was kept. It was approved a minute ago, unless another time is given."""
    store, now = JourneyStore(place.pool), SystemClock().now()
    around = await journey_publications(place.pool, built_in_sources(place.settings), now)
    times = {"starts_at": (now - DAYS).isoformat(), "ends_at": (now + 10 * DAYS).isoformat()}
    heading = {"name": "welcome", "country": "SG", "timezone": "Asia/Singapore", "entry": {"on": ORDERS}}
    draft = parse_journey({**heading, **times, "begin": "hello", **fields}, around)
    await agree(place.pool, JOURNEYS, store, draft, around, approved_at=approved_at)
    return (await store.history(draft.name))[-1].document
