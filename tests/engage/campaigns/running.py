"""Campaigns that run in a house: drafted, submitted and approved in one go."""

from datetime import UTC, datetime, timedelta
from typing import Any

from abacus.core.clock import SystemClock
from abacus.engage.campaigns.around import surroundings
from abacus.engage.campaigns.campaign_store import CampaignStore, Change
from abacus.engage.campaigns.decide.reading import parse_campaign
from abacus.engage.events.decide.builtin import built_in
from tests.support.house import House

DAY = timedelta(days=1)
HERE: dict[str, Any] = {
    "name": "market",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "on": ["transaction.completed"],
    "limits": {"unlimited": True},
}


def just_now(seconds: float = 0.0) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


async def run_campaign(house: House, **fields: Any) -> str:
    """Its label."""
    settings, now = house.settings, SystemClock().now()
    times = {"starts_at": (now - DAY).isoformat(), "ends_at": (now + DAY).isoformat()}
    sources = built_in(
        transactions_topic=settings.transactions_topic,
        points_topic=settings.points_topic,
        tiers_topic=settings.tiers_topic,
    )
    around = await surroundings(house.pool, sources, now)
    store = CampaignStore(house.pool)
    (campaign,) = await store.draft([parse_campaign({**HERE, **times, **fields}, around)], around, by="person:ann")
    await store.submit(campaign.name, around, Change("person:ann", now))
    approved = Change("person:ann", now - timedelta(minutes=1), approved_by="person:eve")
    await store.approve(campaign.name, campaign.version, around, approved)
    return campaign.label
