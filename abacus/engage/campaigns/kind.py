"""Campaigns, as published documents: each version has a state, and runs once a second person has approved it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from abacus.core.fields import Fault
from abacus.documents.stated import StatedKind, stated_table
from abacus.documents.types import Version
from abacus.engage.campaigns.decide.campaign import LABELS, Campaign
from abacus.engage.campaigns.decide.campaign_choices import campaign_choices
from abacus.engage.campaigns.decide.campaign_form import CAMPAIGN_FORM
from abacus.engage.campaigns.decide.campaign_reader import parse_campaign, restore_campaign
from abacus.engage.campaigns.decide.cycles import cycle_through
from abacus.engage.campaigns.decide.document import described, to_document, to_toml, toml_of
from abacus.engage.campaigns.decide.publications import Publications
from abacus.people.types.approval import ApprovalKind
from abacus.people.types.deed import Deed


async def _read(document: Mapping[str, object], around: Publications) -> Campaign:
    return parse_campaign(document, around)


def _restore(document: Mapping[str, Any], version: Version) -> Campaign:
    """It answers to nothing that happened before it was approved."""
    campaign, approved_at = restore_campaign(document, version.number), version.own["approved_at"]
    return campaign if approved_at is None else replace(campaign, approved_at=approved_at)


def _circles(campaign: Campaign, others: Iterable[Campaign], around: Publications) -> list[Fault]:
    cycle = cycle_through(campaign, others, around.rewards)
    return [] if cycle is None else [Fault(cycle.path, f"would set itself off without end: {' → '.join(cycle.stops)}")]


CAMPAIGNS: Final[StatedKind[Campaign, Publications]] = StatedKind(
    word="campaign",
    plural="campaigns",
    noun="campaign",
    command="campaigns",
    subject="campaign",
    deed=Deed.EDIT_CAMPAIGNS,
    table=stated_table("campaign", "name"),
    name_field="name",
    read=_read,
    restore=_restore,
    to_document=to_document,
    described=described,
    key=lambda campaign: campaign.name,
    name=lambda campaign: campaign.name,
    split_label=LABELS.split,
    country=lambda campaign: campaign.country,
    toml=to_toml,
    write=toml_of,
    form=CAMPAIGN_FORM,
    choices=campaign_choices,
    approval=ApprovalKind.CAMPAIGN,
    late=timedelta(days=1),  # events that come so long after the end of a campaign are still decided
    check=_circles,
)
