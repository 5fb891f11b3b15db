"""The campaigns in force, as each process keeps them: read in the background, and at once when one is changed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.documents.moment import NOTHING_READ, Moment, read_moment
from abacus.engage.campaigns.campaign_store import CampaignStore
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.campaign_index import CampaignIndex
from abacus.engage.campaigns.decide.surroundings import Everything, Surroundings
from abacus.engage.campaigns.kind import CAMPAIGNS
from abacus.engage.downstreams.kind import DOWNSTREAMS
from abacus.engage.limits.types import UNCOUNTED_FROM
from abacus.platform.fresh_copy import FreshCopy, Timing
from abacus.platform.postgres import Pool
from abacus.signals.counters.kind import COUNTERS
from abacus.signals.events.decide.source import Source
from abacus.signals.events.decide.substream import Asked
from abacus.signals.events.kind import SOURCES, by_name

USUAL: Final = Timing(load_within_s=30.0)


class _Read(NamedTuple):
    """All that campaigns are judged by, as it was read."""

    campaigns: Sequence[Campaign]
    published: Moment


class InForce:
    """The campaigns that run, and the sources by which events are read for them."""

    def __init__(self) -> None:
        self.index = CampaignIndex()
        self.around: Surroundings | None = None
        self.changes = 0  # how often it was changed

    @property
    def sources(self) -> Mapping[str, Source]:
        return self.around.sources if self.around is not None else {}

    def put(self, campaigns: Iterable[Campaign], around: Surroundings) -> None:
        self.index.put(campaigns, around)
        self.around = around
        self.changes += 1


class CampaignDirectory(FreshCopy[_Read, InForce]):
    """Serves the campaigns in force, always as one object. A campaign is read before the sources and the counters, so
    that none is judged by older ones than it was approved by.
    """

    def __init__(
        self,
        pool: Pool,
        built_in: Iterable[Source],
        clock: Clock,
        *,
        uncounted_from: int = UNCOUNTED_FROM,
    ) -> None:
        """A member's limit of `uncounted_from` runs or more is not counted."""
        self._campaign_store = CampaignStore(pool)
        self._pool = pool
        self._built_in = tuple(built_in)
        self._clock = clock
        self._uncounted_from = uncounted_from
        self._around: Surroundings | None = None
        self._in_force = InForce()
        self._asked: tuple[int, Asked] | None = None
        super().__init__(CAMPAIGNS.plural, self._load_all, self._put_in_force, USUAL)

    def around(self) -> Surroundings:
        """What was published when the campaigns were read. Raises `Unavailable` when they were never read."""
        around = self.value().around
        assert around is not None  # noqa: S101  # it was put there with the campaigns
        return around

    def asked(self) -> Asked:
        """The types of events that campaigns ask for, each since the first was approved; the same object until a
        document changes. Raises `Unavailable` when they were never read.
        """
        now = self.value()
        if self._asked is None or self._asked[0] != now.changes:
            self._asked = now.changes, Asked(now.sources, now.index.since())
        return self._asked[1]

    def in_force(self) -> InForce:
        """The campaigns in force. Raises `Unavailable` when they were never read."""
        return self.value()

    def bounded(self) -> Sequence[Campaign]:
        """The campaigns in force that have a limit over their whole life. Raises `Unavailable` as `in_force` does."""
        return self.value().index.bounded()

    async def _load_all(self, before: _Read | None) -> _Read:
        known = {each.label: each for each in before.campaigns} if before is not None else {}
        campaigns = [
            campaign if campaign.label in known else self._counting(campaign)
            for campaign in await self._campaign_store.in_force(self._clock.now(), known)
        ]
        published = NOTHING_READ if before is None else before.published
        published = await read_moment(self._pool, COUNTERS, SOURCES, DOWNSTREAMS, before=published)
        return _Read(campaigns, published)

    def _counting(self, campaign: Campaign) -> Campaign:
        return replace(campaign, limits=campaign.limits.uncounted_from(self._uncounted_from))

    def _put_in_force(self, read: _Read) -> InForce:
        sources = by_name(self._built_in, read.published.of(SOURCES))
        counters = {each.name: each for each in read.published.of(COUNTERS)}
        services = {each.name: each.service.answers for each in read.published.of(DOWNSTREAMS) if each.service}
        before = self._around
        if before is None or before.sources != sources or before.counters != counters or before.externals != services:
            # What was approved names no segment and no webhook that was not there.
            now, every = self._clock.now(), Everything()
            self._around = Surroundings(
                sources, now, counters=counters, segments=every, webhooks=every, externals=services
            )
        assert self._around is not None  # noqa: S101  # set above
        self._in_force.put(read.campaigns, self._around)
        return self._in_force
