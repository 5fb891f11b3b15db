"""Campaigns that run in a house: drafted, submitted and approved in one go."""

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Protocol

from abacus.core.clock import SystemClock
from abacus.engage.campaigns.campaign_store import CampaignStore
from abacus.engage.campaigns.decide.campaign_reader import parse_campaign
from abacus.engage.campaigns.kind import CAMPAIGNS
from abacus.engage.campaigns.publications import publications
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from abacus.signals.events.decide.builtin import built_in
from tests.support.agreed import agree

DAY = timedelta(days=1)
HERE: dict[str, Any] = {
    "name": "market",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "on": ["transaction.completed"],
    "limits": {"unlimited": True},
}


class Place(Protocol):
    """Where campaigns run: a house, or another stack."""

    @property
    def settings(self) -> Settings: ...
    @property
    def pool(self) -> Pool: ...


class Stack(NamedTuple):
    """`Place`, of its parts."""

    settings: Settings
    pool: Pool


def just_now(seconds: float = 0.0) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


async def run_campaign(place: Place, *, approved_at: datetime | None = None, **fields: Any) -> str:
    """Its label. It was approved a minute ago, unless another time is given."""
    settings, now = place.settings, SystemClock().now()
    times = {"starts_at": (now - DAY).isoformat(), "ends_at": (now + DAY).isoformat()}
    sources = built_in(
        transactions_topic=settings.transactions_topic,
        points_topic=settings.points_topic,
        tiers_topic=settings.tiers_topic,
    )
    around = await publications(place.pool, sources, now)
    draft = parse_campaign({**HERE, **times, **fields}, around)
    campaign = await agree(place.pool, CAMPAIGNS, CampaignStore(place.pool), draft, around, approved_at=approved_at)
    return str(campaign.label)
