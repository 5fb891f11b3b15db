"""What people do with campaigns: the caller checks each deed, the desk does it and writes it into the log."""

from collections.abc import Iterable, Mapping, Sequence

from abacus.core.clock import Clock
from abacus.documents.stated_desk import StatedDesk
from abacus.engage.campaigns.around import surroundings
from abacus.engage.campaigns.campaign_store import CampaignStore
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.surroundings import Surroundings
from abacus.engage.campaigns.report import CampaignReport, Glance, glance, report, used_by
from abacus.engage.campaigns.template_trials import tried_campaign
from abacus.engage.limits.types import Amounts
from abacus.engage.notify.renderer import Renderer
from abacus.people.store.approvals import Approvals
from abacus.platform.postgres import Pool
from abacus.signals.events.decide.source import Source


class CampaignDesk(StatedDesk[Campaign, Surroundings]):
    """Every method raises `Unavailable` while the database is away, and `Refused` for what cannot be done."""

    def __init__(
        self, pool: Pool, clock: Clock, built_in: Iterable[Source], approvals: Approvals, renderer: Renderer
    ) -> None:
        super().__init__(pool, clock, CampaignStore(pool), approvals, lambda _: self.around())
        self._built_in = tuple(built_in)
        self._renderer = renderer

    async def around(self) -> Surroundings:
        """What is published, by which drafts are judged."""
        return await surroundings(self._pool, self._built_in, self.now())

    async def read(self, document: Mapping[str, object], around: Surroundings | None = None) -> Campaign:
        """The draft of a document, judged by what is published; its templates are tried. Raises `CampaignFaults`."""
        return await tried_campaign(document, around or await self.around(), self._renderer)

    async def report(self, campaign: Campaign) -> CampaignReport:
        return await report(self._pool, campaign)

    async def glance(self, campaign: Campaign) -> Glance:
        """What a page shows of the report at once."""
        return await glance(self._pool, campaign)

    async def used(self, names: Sequence[str]) -> Mapping[str, Amounts]:
        """What each of the campaigns has taken of its limits over its whole life."""
        return await used_by(self._pool, names)
