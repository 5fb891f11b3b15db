"""The campaigns in force, as each process keeps them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from abacus.core.clock import Clock
from abacus.documents.stated_directory import InUse, StatedDirectory
from abacus.engage.campaigns.campaign_store import CampaignStore
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.campaign_index import CampaignIndex
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.downstreams.kind import DOWNSTREAMS
from abacus.engage.limits.types import UNCOUNTED_FROM
from abacus.engage.notify.kind import CONTACT_POLICIES, holdouts_of
from abacus.platform.postgres import Pool
from abacus.signals.counters.kind import COUNTERS
from abacus.signals.events.decide.source import Source
from abacus.signals.events.decide.substream import Asked
from abacus.signals.events.kind import SOURCES, by_name
from abacus.signals.rules.decide.names import AnyName


@dataclass(frozen=True, slots=True)
class InForce:
    """The campaigns that run, and what is published beside them: another value after each change."""

    index: CampaignIndex
    around: Publications


class CampaignDirectory(StatedDirectory[Campaign, InForce]):
    """Serves the campaigns in force. Every method raises `Unavailable` when they were never read."""

    def __init__(
        self, pool: Pool, built_in: Iterable[Source], clock: Clock, *, uncounted_from: int = UNCOUNTED_FROM
    ) -> None:
        """A member's limit of `uncounted_from` runs or more is not counted."""

        def counted(campaign: Campaign) -> Campaign:
            return replace(campaign, limits=campaign.limits.uncounted_from(uncounted_from))

        self._built_in = tuple(built_in)
        self._clock = clock
        self._index = CampaignIndex()
        self._around: Publications | None = None
        self._asked: tuple[InForce, Asked] | None = None
        beside = COUNTERS, SOURCES, DOWNSTREAMS, CONTACT_POLICIES
        super().__init__(pool, CampaignStore(pool), clock, self._put_in_force, *beside, kept=counted)

    def around(self) -> Publications:
        """What was published when the campaigns were read."""
        return self.value().around

    def asked(self) -> Asked:
        """The types of events that campaigns ask for, each since the first was approved; the same object until a
        document changes.
        """
        now = self.value()
        if self._asked is None or self._asked[0] is not now:
            self._asked = now, Asked(now.around.sources, now.index.since())
        return self._asked[1]

    def bounded(self) -> Sequence[Campaign]:
        """The campaigns in force that have a limit over their whole life."""
        return self.value().index.bounded()

    def _put_in_force(self, read: InUse[Campaign]) -> InForce:
        sources = by_name(self._built_in, read.beside.of(SOURCES))
        counters = {each.name: each for each in read.beside.of(COUNTERS)}
        services = {each.name: each.service.answers for each in read.beside.of(DOWNSTREAMS) if each.service}
        holdouts, around = holdouts_of(read.beside), self._around
        now_published = sources, counters, services, holdouts
        if around is None or now_published != (around.sources, around.counters, around.externals, around.holdouts):
            # What was approved names no segment, no webhook and no region that was not there.
            now, every = self._clock.now(), AnyName()
            around = self._around = Publications(
                sources,
                now,
                counters=counters,
                segments=every,
                webhooks=every,
                regions=every,
                externals=services,
                holdouts=holdouts,
            )
        self._index.put(read.versions, around)
        return InForce(self._index, around)
