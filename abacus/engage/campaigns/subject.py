"""The member of a campaign for which rules look values up. Pure."""

from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.ledger.types.account import AccountId
from abacus.signals.events.types import Event, Position


class CampaignSubject(NamedTuple):
    """A member in a campaign, with the event, and the program of the campaign's country. `position` is that of the
    event; None for an event that comes from no topic, or did so long ago. The event `follows` where an event of the
    member before it is decided for the campaign in the same transaction.
    """

    campaign: Campaign
    member_id: str
    facts: Event
    program: str
    position: Position | None = None
    follows: bool = False

    @property
    def account(self) -> AccountId:
        return self.member_id, self.program

    @property
    def at(self) -> datetime:
        return self.facts.occurred_at

    @property
    def zone(self) -> ZoneInfo:
        return self.campaign.zone
