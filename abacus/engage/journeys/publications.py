"""What is published at the moment, by which journeys are judged."""

from collections.abc import Iterable
from datetime import datetime

from abacus.engage.campaigns.campaign_store import CampaignStore
from abacus.engage.campaigns.publications import publications
from abacus.engage.journeys.decide.publications import JourneyPublications
from abacus.engage.journeys.journey_store import JourneyStore
from abacus.platform.postgres import Pool
from abacus.signals.events.decide.source import Source


async def journey_publications(pool: Pool, built_in: Iterable[Source], now: datetime) -> JourneyPublications:
    """Raises `Unavailable`."""
    return JourneyPublications(
        await publications(pool, built_in, now),
        journeys=await JourneyStore(pool).heads(now),
        campaigns=await CampaignStore(pool).remembering(now),
    )
