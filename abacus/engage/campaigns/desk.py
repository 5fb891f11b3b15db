"""What people do with campaigns: the caller checks each deed, the desk does it and writes it into the log."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from typing import Final

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.core.sources import campaign_source
from abacus.documents.decide.states import Act, Status
from abacus.documents.stated import Change, stated
from abacus.documents.stated_desk import StatedDesk
from abacus.engage.campaigns.campaign_store import CampaignRecord, CampaignStore
from abacus.engage.campaigns.decide.calendar import BacktestWindow, as_it_ran
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.campaign_reader import Read, read_campaign
from abacus.engage.campaigns.decide.preview import Filled, filled
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.campaigns.facts import CampaignSubject
from abacus.engage.campaigns.publications import publications
from abacus.engage.campaigns.report import CampaignReport, Glance, glance, report, used_by
from abacus.engage.campaigns.simulation import Simulated, simulate
from abacus.engage.limits.types import Amounts
from abacus.engage.notify.decide.message import Words
from abacus.engage.notify.decide.template import Unrenderable
from abacus.engage.notify.renderer import Renderer
from abacus.people.store.approvals import Approvals
from abacus.people.store.audit import entry_of, noted
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.signals.events.decide.source import Source
from abacus.signals.events.types import Event
from abacus.signals.facts.members import MemberFacts
from abacus.signals.facts.types import FactRegistry


async def tried_campaign(document: Mapping[str, object], around: Publications, renderer: Renderer) -> Campaign:
    """The draft of a document, judged by what is published. Raises `CampaignFaults` with every fault that it has, and
    `Unavailable`.
    """
    return await tried(read_campaign(document, around), renderer)


async def tried(read: Read, renderer: Renderer) -> Campaign:
    """What was read. Raises as `tried_campaign` does."""
    renderings = [each.rendering for each in read.trials]
    return read.judged(await renderer.render(renderings, is_trial=True) if renderings else ())


class CampaignDesk(StatedDesk[Campaign, Publications]):
    """Every method raises `Unavailable` while the database is away, and `Refused` for what cannot be done."""

    def __init__(
        self, pool: Pool, clock: Clock, built_in: Iterable[Source], approvals: Approvals, renderer: Renderer
    ) -> None:
        self._campaigns = CampaignStore(pool)
        super().__init__(pool, clock, self._campaigns, approvals, lambda _: self.around())
        self._built_in = tuple(built_in)
        self._renderer = renderer

    async def around(self) -> Publications:
        """What is published, by which drafts are judged."""
        return await publications(self._pool, self._built_in, self.now())

    async def read(self, document: Mapping[str, object], around: Publications | None = None) -> Campaign:
        """The draft of a document, judged by what is published; its templates are tried. Raises `CampaignFaults`."""
        return await tried_campaign(document, around or await self.around(), self._renderer)

    async def last_in_force(self, name: str) -> CampaignRecord:
        """The version that was approved last, or else the latest."""
        history = [stated(each) for each in await self.versions(name)]
        approved = [each for each in history if each.status not in {Status.DRAFT, Status.SUBMITTED}]
        return (approved or history)[-1]

    async def beside(self, campaign: Campaign, window: BacktestWindow) -> list[Campaign]:
        """The versions of the other campaigns of its exclusive group, each over the time in which it ran."""
        records = await self._campaigns.beside(campaign)
        ran = [as_it_ran(each.document, each.status, each.changed_at, window) for each in records]
        return [each for each in ran if each is not None]

    async def simulate(
        self,
        campaign: Campaign,
        event: Event,
        *,
        facts: FactRegistry[CampaignSubject],
        members: MemberFacts,
        around: Publications,
    ) -> Simulated:
        """What the campaign would do for the event; nothing is done. Raises `SetAside` as well."""
        return await simulate(
            campaign,
            event,
            pool=self._pool,
            facts=facts,
            members=members,
            around=around,
            book=CardBook(await CardStore(self._pool).all()),
            renderer=self._renderer,
            now=self.now(),
        )

    async def preview(
        self, campaign: Campaign, event: Event, around: Publications
    ) -> list[tuple[Filled, Words | Unrenderable]]:
        """The messages of a draft as they would read for an event."""
        messages = list(filled(campaign, event, around.cards.get(campaign.country)))
        return list(zip(messages, await self._renderer.render([each.rendering for each in messages]), strict=True))

    async def report(self, campaign: Campaign) -> CampaignReport:
        return await report(self._pool, campaign)

    async def glance(self, campaign: Campaign) -> Glance:
        """What a page shows of the report at once."""
        return await glance(self._pool, campaign)

    async def near_their_end(
        self, soon: datetime, share: Decimal, *, countries: Sequence[str] | None, limit: int
    ) -> list[CampaignRecord]:
        """Running versions that end soon, or of whose limits this share was handed out; those that end first."""
        return await self._campaigns.near_their_end(self.now(), soon, share, countries=countries, limit=limit)

    async def used(self, names: Sequence[str]) -> Mapping[str, Amounts]:
        """What each of the campaigns has taken of its limits over its whole life."""
        return await used_by(self._pool, names)


_WHY: Final = "its limit is reached"

log = structlog.get_logger(__name__)


class CampaignExhaustion:
    """Marks campaigns as exhausted, and writes that into the log of deeds."""

    def __init__(self, store: CampaignStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def mark(self, campaigns: Sequence[Campaign]) -> None:
        """A campaign that is not in force any more stays as it is. Raises `Unavailable`."""
        for campaign in campaigns:
            now, source = self._clock.now(), campaign_source(campaign.name)
            entry = entry_of(source, Deed.EDIT_CAMPAIGNS, source, now, country=campaign.country, did="exhausted")
            also = noted(entry)
            with suppress(Refused):
                await self._store.move(campaign.name, campaign.version, Act.EXHAUST, Change(source, now, _WHY), also)
                log.info("campaign exhausted", campaign=campaign.label)
