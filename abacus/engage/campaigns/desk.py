"""What people do with campaigns: the caller checks each deed, the desk does it and writes it into the log."""

from collections.abc import Iterable, Mapping, Sequence

from abacus.core.clock import Clock
from abacus.documents.decide.states import Act, State
from abacus.documents.desk import DocumentDesk
from abacus.documents.types import Difference, Outcome
from abacus.engage.campaigns.around import surroundings
from abacus.engage.campaigns.campaign_store import CampaignRecord, CampaignStore, Change
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.document import describe_changes, to_document
from abacus.engage.campaigns.decide.surroundings import Surroundings
from abacus.engage.campaigns.kind import CAMPAIGNS
from abacus.engage.campaigns.proposal import campaign_proposal
from abacus.engage.campaigns.report import CampaignReport, Glance, glance, report, used_by
from abacus.engage.campaigns.template_trials import tried_campaign
from abacus.engage.limits.types import Amounts
from abacus.engage.notify.renderer import Renderer
from abacus.people.decide.approving import check_asks
from abacus.people.store.approvals import Approvals
from abacus.people.types.actor import Actor
from abacus.people.types.approval import Approval
from abacus.platform.postgres import Also, Pool, together
from abacus.signals.events.decide.source import Source


class CampaignDesk(DocumentDesk[Campaign, Surroundings]):
    """Every method raises `Unavailable` while the database is away, and `Refused` for what cannot be done."""

    def __init__(
        self, pool: Pool, clock: Clock, built_in: Iterable[Source], approvals: Approvals, renderer: Renderer
    ) -> None:
        super().__init__(pool, clock, CAMPAIGNS, lambda _: self.around())
        self._built_in = tuple(built_in)
        self._approvals = approvals
        self._renderer = renderer
        self._campaigns = CampaignStore(pool)

    async def around(self) -> Surroundings:
        """What is published, by which drafts are judged."""
        return await surroundings(self._pool, self._built_in, self.now())

    async def read(self, document: Mapping[str, object], around: Surroundings | None = None) -> Campaign:
        """The draft of a document, judged by what is published; its templates are tried. Raises `CampaignFaults`."""
        return await tried_campaign(document, around or await self.around(), self._renderer)

    def check_publishes(self, by: Actor) -> None:
        """Nobody could approve what a login submits. Raises `CannotDecide`."""
        check_asks(by.source)

    async def publish(self, differences: Sequence[Difference[Campaign]], by: Actor) -> list[Outcome[Campaign]]:
        """Drafts a version of each and submits it, all of them or none; a second person decides on each. Raises
        `CampaignFaults`, and `CannotDecide` for who may not ask.
        """
        submitted = await self._drafted(differences, by)
        return [Outcome(record.campaign, record.campaign.label, approval) for record, approval in submitted]

    async def propose(self, draft: Campaign, by: Actor) -> tuple[CampaignRecord, Approval]:
        """Drafts a version of what `read` has read, and submits it. Raises as `publish` does."""
        (submitted,) = await self._drafted(await self.differences([draft]), by)
        return submitted

    async def _drafted(
        self, differences: Sequence[Difference[Campaign]], by: Actor
    ) -> list[tuple[CampaignRecord, Approval]]:
        self.check_publishes(by)
        log = [
            self._did(each.draft, by, did, **details)
            for each in differences
            for did, details in (("draft", {"changes": each.changes}), ("submit", {}))
        ]
        drafts, change = [each.draft for each in differences], Change(by.source, self.now())
        records = await self._campaigns.publish(drafts, await self.around(), change, together(*log))
        return [await self._asked(record, by) for record in records]

    async def submit(self, campaign: Campaign, by: Actor) -> tuple[CampaignRecord, Approval]:
        """Submits the latest version of a campaign. Raises as `publish` does."""
        self.check_publishes(by)
        around = await self.around()
        await self.read(to_document(campaign), around)
        change, also = Change(by.source, self.now()), self._did(campaign, by, "submit")
        return await self._asked(await self._campaigns.submit(campaign.name, around, change, also), by)

    async def _asked(self, record: CampaignRecord, by: Actor) -> tuple[CampaignRecord, Approval]:
        """With the approval that it waits for."""
        in_force = [each.campaign for each in await self.history(record.campaign.name) if each.in_force]
        changes = describe_changes(in_force[-1] if in_force else None, record.campaign)
        return record, await self._approvals.ask(campaign_proposal(record.campaign, changes), by.agent)

    async def move(
        self, campaign: Campaign, act: Act, reason: str, by: Actor, *, version: int | None = None
    ) -> CampaignRecord:
        """Pauses, resumes, withdraws or ends a version. Without one it is the version in force if the act can be done
        to that, or else the latest.
        """
        also = self._did(campaign, by, act.value, reason=reason)
        return await self._campaigns.move(campaign.name, version, act, Change(by.source, self.now(), reason), also)

    async def page(
        self, *, countries: Sequence[str] | None, state: State | None, after: str | None, limit: int
    ) -> Sequence[CampaignRecord]:
        """The latest version of each campaign, by name."""
        return await self._campaigns.page(self.now(), countries=countries, state=state, after=after, limit=limit)

    async def campaigns(self) -> Sequence[CampaignRecord]:
        """The latest version of each campaign, by name."""
        return await self._campaigns.latest()

    async def history(self, name: str) -> Sequence[CampaignRecord]:
        """All versions of a campaign; none where there is no such campaign."""
        return await self._campaigns.history(name)

    async def report(self, campaign: Campaign) -> CampaignReport:
        return await report(self._pool, campaign)

    async def glance(self, campaign: Campaign) -> Glance:
        """What a page shows of the report at once."""
        return await glance(self._pool, campaign)

    async def used(self, names: Sequence[str]) -> Mapping[str, Amounts]:
        """What each of the campaigns has taken of its limits over its whole life."""
        return await used_by(self._pool, names)

    def _did(self, campaign: Campaign, by: Actor, did: str, **details: object) -> Also:
        return self.logged(campaign.name, campaign.country, by, did=did, **details)
