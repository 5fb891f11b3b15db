"""Policies of contact, and notices of campaigns, for the tests of caps, quiet hours and holdouts."""

from datetime import datetime
from typing import Any

from abacus.engage.notify.decide.contact import Policies
from abacus.engage.notify.decide.contact_document import parse_policy
from abacus.engage.notify.decide.news import Campaigned, CampaignWords, JourneyTerms
from abacus.engage.notify.decide.notice import Notice


def policies(**fields: Any) -> Policies:
    """One of Singapore."""
    policy = parse_policy({"country": "SG", "timezone": "Asia/Singapore", **fields}).numbered(3)
    return {policy.country: policy}


def promoted(
    member: str,
    number: int,
    at: datetime,
    *,
    priority: int = 0,
    country: str = "SG",
    campaign: str = "autumn",
    journey: JourneyTerms | None = None,
) -> Notice:
    """What a campaign says, or a journey, the `number`th thing."""
    key = f"campaign:{campaign}:app:opened:{number}:1/0"
    words = {"en": CampaignWords(title=f"Thing {number}", text=f"This is thing {number}.")}
    news = Campaigned(campaign=campaign, key=key, country=country, words=words, journey=journey)
    return Notice(member, key, at, 0, news, priority)
