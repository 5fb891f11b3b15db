"""What rules of campaigns look up: facts about members, and `campaign.*`, what a member has had of the campaign."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.progress import NONE, asked_place, told
from abacus.engage.campaigns.decide.vocabulary import CAMPAIGN
from abacus.engage.campaigns.progress_rows import read_progress
from abacus.engage.downstreams.facts import AskService, ServiceFacts
from abacus.ledger.types.account import AccountId
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.signals.events.types import Event, Position
from abacus.signals.facts.counters import CounterFacts
from abacus.signals.facts.members import InSegments, MemberFacts, SegmentFacts, in_reach
from abacus.signals.facts.types import FactRegistry, Found, Wish
from abacus.signals.rules.decide.at_least import AtLeast


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


class ProgressFacts:
    """How often the member has come to the campaign, and what it has been given there."""

    origin: Final = CAMPAIGN

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def load(self, wanted: Sequence[Wish[CampaignSubject]]) -> list[Found]:
        return await in_reach(self._pool, wanted, self._load)

    async def _load(self, wanted: Sequence[Wish[CampaignSubject]]) -> list[Found]:
        """Where an event follows another, the value may be higher once that one is decided."""
        places = [asked_place(each.campaign, each.member_id, each.at, side.text) for each, side in wanted]
        async with slices.at(self._pool, places[0].member_id) as connection:
            progress = await read_progress(connection, sorted(set(places)))
        found: list[Found] = []
        for place, (subject, side) in zip(places, wanted, strict=True):
            value = told(progress.get(place, NONE), side.text)
            found.append(AtLeast(value) if subject.follows else value)
        return found


def campaign_facts(
    pool: Pool, *, members: MemberFacts, counters: CounterFacts, segments: InSegments, services: AskService
) -> FactRegistry[CampaignSubject]:
    """Everything that a rule of a campaign may look up."""
    return FactRegistry(SegmentFacts(segments), members, ProgressFacts(pool), counters, ServiceFacts(services))
