"""Campaigns, as published documents: each version has a state, and runs once a second person has approved it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from abacus.core.fields import Fault
from abacus.documents.decide.states import Status
from abacus.documents.kind import Between, DocumentKind, Table
from abacus.documents.types import Record, Version
from abacus.engage.campaigns.decide.campaign import Campaign, split_label
from abacus.engage.campaigns.decide.campaign_reader import parse_campaign, restore_campaign
from abacus.engage.campaigns.decide.document import describe_changes, described, to_document, to_toml
from abacus.engage.campaigns.decide.surroundings import Surroundings
from abacus.people.types.deed import Deed


async def _read(document: Mapping[str, object], around: Surroundings) -> Campaign:
    return parse_campaign(document, around)


def _restore(document: Mapping[str, Any], version: Version) -> Campaign:
    """It answers to nothing that happened before it was approved."""
    campaign, approved_at = restore_campaign(document, version.number), version.own["approved_at"]
    return campaign if approved_at is None else replace(campaign, approved_at=approved_at)


def _check(_: Campaign, __: Iterable[Campaign], ___: Surroundings) -> list[Fault]:
    """Circles of events and names of other countries are looked for where a version is drafted and submitted."""
    return []


def _anew(record: Record[Campaign]) -> list[str]:
    """A version that is over is no version to compare with: the same document starts anew."""
    ended = record.version.own["status"] == Status.ENDED
    return [f"starts anew: {record.document.label} is ended"] if ended else []


def _standing(history: Sequence[Record[Campaign]]) -> Sequence[Record[Campaign]]:
    return [each for each in history if each.version.own.get("status") != Status.ENDED][-1:]


def _not_over(history: Sequence[Record[Campaign]], now: datetime) -> Sequence[Record[Campaign]]:
    """The latest version that is not ended, be it in force or on its way to that."""
    return [each for each in _standing(history) if each.document.ends_at > now]


def _behind_the_last(_: Campaign, history: Sequence[Record[Campaign]]) -> Between[Campaign]:
    """A draft is compared with the latest version that is not ended, or else with the latest."""
    return next(iter(_standing(history) or history[-1:]), None), None


CAMPAIGNS: Final[DocumentKind[Campaign, Surroundings]] = DocumentKind(
    word="campaign",
    plural="campaigns",
    noun="campaign",
    command="campaigns",
    subject="campaign",
    deed=Deed.EDIT_CAMPAIGNS,
    table=Table("campaign", "name", own=("status", "approved_at"), at="drafted_at", by="drafted_by"),
    name_field="name",
    read=_read,
    restore=_restore,
    to_document=to_document,
    described=described,
    changes=describe_changes,
    check=_check,
    key=lambda campaign: campaign.name,
    name=lambda campaign: campaign.name,
    split_label=split_label,
    country=lambda campaign: campaign.country,
    toml=to_toml,
    between=_behind_the_last,
    standing=_not_over,
    anew=_anew,
)
