"""What rules of campaigns look up: facts about members, and `campaign.*`, what a member has had of the campaign."""

from collections.abc import Sequence
from typing import Final

from abacus.engage.campaigns.decide.progress import NONE, asked_place, told
from abacus.engage.campaigns.decide.sides import CAMPAIGN
from abacus.engage.campaigns.progress_rows import read_progress
from abacus.engage.campaigns.subject import CampaignSubject
from abacus.engage.downstreams.facts import AskService, ServiceFacts
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.signals.facts.counters import CounterFacts
from abacus.signals.facts.members import MemberFacts
from abacus.signals.facts.reach import in_reach
from abacus.signals.facts.registry import FactRegistry
from abacus.signals.facts.segments import InSegments, SegmentFacts
from abacus.signals.facts.types import Found, Wish
from abacus.signals.rules.decide.at_least import AtLeast


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
