"""Campaigns that run in a house: drafted, submitted and approved in one go."""

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Protocol

from abacus.core.clock import SystemClock
from abacus.documents.stated import Change
from abacus.engage.campaigns.campaign_store import CampaignStore
from abacus.engage.campaigns.decide.campaign_reader import parse_campaign
from abacus.engage.campaigns.kind import CAMPAIGNS
from abacus.engage.campaigns.publications import publications
from abacus.people.decide.names import parse_grants
from abacus.people.store.approvals import Approvals
from abacus.people.store.people import PeopleStore
from abacus.people.types.approval import Approval, ApprovalKind
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor
from abacus.platform.postgres import Also, Pool
from abacus.platform.settings import Settings
from abacus.signals.events.decide.builtin import built_in
from tests.support.logged import logged
from tests.support.staff import ADMIN

DAY = timedelta(days=1)
ANN = Actor("ann", ())
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
    store, by_ann = CampaignStore(place.pool), Change("person:ann", now)
    (campaign,) = await store.draft([parse_campaign({**HERE, **times, **fields}, around)], around, by_ann)
    await store.submit(campaign.name, around, by_ann)

    async def run(_: Approval, also: Also) -> None:
        approved = Change("person:ann", approved_at or now - timedelta(minutes=1), approved_by="person:eve")
        await store.approve(campaign.name, campaign.version, around, approved, also)

    approvals = Approvals(place.pool, SystemClock(), {ApprovalKind.CAMPAIGN: run})
    asked = await approvals.ask(CAMPAIGNS.proposal(campaign, []), ANN.agent)
    await approvals.approve(asked.approval_id, await _eve(place), asked.digest)
    return campaign.label


async def _eve(place: Place) -> Actor:
    """Somebody who approves."""
    eve = Actor("eve", parse_grants(["approver"]))
    people = PeopleStore(place.pool, SystemClock())
    if eve.name not in {each.person.person_id for each in await people.all()}:
        logs = logged(f"person:{eve.name}", Deed.MANAGE_PEOPLE)
        await people.create(eve.name, parse_grants(["approver"]), by=ADMIN, also=logs)
    return eve
