"""What people do with campaigns: each deed is checked by whoever calls, done here, and written into the log."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from abacus.core.clock import Clock
from abacus.engage.campaigns.around import surroundings
from abacus.engage.campaigns.campaign_store import CampaignRecord, CampaignStore, Change
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.document import describe_changes, to_document
from abacus.engage.campaigns.decide.states import Act, State
from abacus.engage.campaigns.decide.surroundings import Surroundings
from abacus.engage.campaigns.proposing import campaign_proposal
from abacus.engage.campaigns.report import CampaignReport, Glance, glance, report, used_by
from abacus.engage.campaigns.trying import tried_campaign
from abacus.engage.limits.types import Amounts
from abacus.engage.notify.renderer import Renderer
from abacus.people.decide.approving import check_asks
from abacus.people.store.approvals import Approvals
from abacus.people.store.audit import entry_of, write
from abacus.people.types.actor import Actor
from abacus.people.types.approval import Approval
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also, Connection, Pool, together
from abacus.signals.events.decide.source import Source


class CampaignDesk:
    """Every method raises `Unavailable` while the database is away, and `Refused` for what cannot be done."""

    def __init__(
        self, pool: Pool, clock: Clock, built_in: Iterable[Source], approvals: Approvals, renderer: Renderer
    ) -> None:
        self._pool = pool
        self._clock = clock
        self._built_in = tuple(built_in)
        self._approvals = approvals
        self._renderer = renderer
        self._store = CampaignStore(pool)

    def now(self) -> datetime:
        return self._clock.now()

    async def around(self) -> Surroundings:
        """What is published, by which drafts are judged."""
        return await surroundings(self._pool, self._built_in, self.now())

    async def read(self, document: Mapping[str, object], around: Surroundings | None = None) -> Campaign:
        """The draft of a document, judged by what is published; its templates are tried. Raises `CampaignFaults`."""
        return await tried_campaign(document, around or await self.around(), self._renderer)

    async def publish(self, draft: Campaign, by: Actor) -> tuple[CampaignRecord, Approval]:
        """Drafts a version of what `read` has read, and submits it. Raises `CampaignFaults`, and `CannotDecide` for who
        may not ask.
        """
        check_asks(by.source)
        log = together(self._logged(by, draft, "draft"), self._logged(by, draft, "submit"))
        change = Change(by.source, self.now())
        (record,) = await self._store.publish([draft], await self.around(), change, log)
        return await self._asked(record, by)

    async def submit(self, campaign: Campaign, by: Actor) -> tuple[CampaignRecord, Approval]:
        """Submits the latest version of a campaign. Raises as `publish` does."""
        check_asks(by.source)
        around = await self.around()
        await self.read(to_document(campaign), around)
        change, also = Change(by.source, self.now()), self._logged(by, campaign, "submit")
        return await self._asked(await self._store.submit(campaign.name, around, change, also), by)

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
        also = self._logged(by, campaign, act.value, reason=reason)
        return await self._store.move(campaign.name, version, act, Change(by.source, self.now(), reason), also)

    async def page(
        self, *, countries: Sequence[str] | None, state: State | None, after: str | None, limit: int
    ) -> Sequence[CampaignRecord]:
        """The latest version of each campaign, by name."""
        return await self._store.page(self.now(), countries=countries, state=state, after=after, limit=limit)

    async def history(self, name: str) -> Sequence[CampaignRecord]:
        """All versions of a campaign; none where there is no such campaign."""
        return await self._store.history(name)

    async def report(self, campaign: Campaign) -> CampaignReport:
        return await report(self._pool, campaign)

    async def glance(self, campaign: Campaign) -> Glance:
        """What a page shows of the report at once."""
        return await glance(self._pool, campaign)

    async def used(self, names: Sequence[str]) -> Mapping[str, Amounts]:
        """What each of the campaigns has taken of its limits over its whole life."""
        return await used_by(self._pool, names)

    def _logged(self, by: Actor, campaign: Campaign, did: str, **details: object) -> Also:
        subject = f"campaign:{campaign.name}"
        entry = entry_of(
            by.source, Deed.EDIT_CAMPAIGNS, subject, self.now(), country=campaign.country, did=did, **details
        )

        async def also(connection: Connection) -> None:
            await write(connection, [entry])

        return also
