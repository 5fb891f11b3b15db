"""The journeys that run, as each process keeps them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from abacus.core.clock import Clock
from abacus.documents.directory import NOTHING_READ, Moment, read_moment
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.downstreams.kind import DOWNSTREAMS
from abacus.engage.journeys.decide.halts import NO_HALTS, Halts
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.publications import JourneyHead, JourneyPublications
from abacus.engage.journeys.decide.version_events import VersionEvents, events_of
from abacus.engage.journeys.halts import read_halts
from abacus.engage.journeys.journey_store import JourneyStore, JourneyVersions
from abacus.engage.notify.kind import CONTACT_POLICIES, holdouts_of
from abacus.platform.fresh_copy import Cadence, FreshCopy
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement
from abacus.signals.counters.kind import COUNTERS
from abacus.signals.events.decide.source import Source
from abacus.signals.events.decide.substream import Asked, Types
from abacus.signals.events.decide.vocabulary import EventType
from abacus.signals.events.kind import SOURCES, by_name
from abacus.signals.rules.decide.names import AnyName

_BESIDE: Final = (COUNTERS, SOURCES, DOWNSTREAMS, CONTACT_POLICIES)

# The versions of journeys that run: who is inside stays on a version that takes nobody in any more. A journey whose
# newest version was paused or ended stands still.
_RUNNING: Final = Statement("""
with newest as (
    select distinct on (name) name, status, version from journey where approved_at is not null
    order by name, version desc
)
select j.name, j.version, j.version = n.version from newest n join journey j using (name)
where n.status = 'approved' and j.approved_at is not null order by j.name, j.version
""")
# The journeys whose last version is ended: nobody enters any more.
_ENDED: Final = Statement("""
select name from (
    select distinct on (name) name, status from journey where approved_at is not null order by name, version desc
) newest where status = 'ended'
""")
# Of the version that was approved last: another one that was never in force moves nobody's days.
_HEADS: Final = Statement("""
select distinct on (name) name, country, document ->> 'timezone' as zone from journey
order by name, approved_at is null, version desc
""")


class _Read(NamedTuple):
    versions: Sequence[VersionEvents]
    newest: Sequence[Journey]
    ended: frozenset[str]
    heads: Mapping[str, JourneyHead]
    zones: Mapping[str, ZoneInfo]
    halts: Halts
    beside: Moment


@dataclass(frozen=True)
class Running:
    """What the `versions` of the journeys that run ask for, the `newest` of each, which takes members in, what is
    published `around` them, what has halted them, and the names of journeys that have `ended`. Each change makes
    another value.
    """

    versions: Sequence[VersionEvents]
    newest: Sequence[Journey]
    around: JourneyPublications
    halts: Halts = NO_HALTS
    ended: frozenset[str] = frozenset()
    zones: Mapping[str, ZoneInfo] = field(default_factory=dict)  # of all journeys, also of ended ones

    @cached_property
    def approved(self) -> Mapping[str, Sequence[int]]:
        """The versions of each journey that runs, in their order."""
        numbers: dict[str, list[int]] = {}
        for each in self.versions:
            numbers.setdefault(each.name, []).append(each.version)
        return {name: tuple(sorted(found)) for name, found in numbers.items()}

    @property
    def names(self) -> Sequence[str]:
        return [each.name for each in self.newest]

    def types(self) -> Types:
        """The types of events that may move somebody, or be the goal, by source."""
        return _by_source(
            [
                *(each for journey in self.entering() for each in journey.entry.on),
                *(each for version in self.versions for each in version.moving | version.goal),
            ]
        )

    def since(self) -> dict[str, dict[str, datetime]]:
        """The same types, each since the first version was approved that asks for it."""
        since: dict[str, dict[str, datetime]] = {}
        for version in self.versions:
            for source, type_ in version.on | version.moving | version.goal:
                of_source = since.setdefault(source, {})
                of_source[type_] = min(version.approved_at, of_source.get(type_, version.approved_at))
        return since

    def awaited(self) -> Types:
        """The types of events for which somebody may wait, by source."""
        return _by_source(each for version in self.versions for each in version.awaited)

    def entering(self) -> Iterator[Journey]:
        """The journeys that members enter by events."""
        return (each for each in self.newest if each.entry.on)


class JourneyDirectory(FreshCopy[_Read, Running]):
    """Serves the journeys that run. Every method raises `Unavailable` when they were never read."""

    def __init__(self, pool: Pool, versions: JourneyVersions, built_in: Iterable[Source], clock: Clock) -> None:
        self._pool = pool
        self._versions = versions
        self._built_in = tuple(built_in)
        self._clock = clock
        self._around: JourneyPublications | None = None
        self._asked: tuple[Running, Asked] | None = None
        kind = JourneyStore(pool).kind
        super().__init__(kind.plural, self._load, self._build, Cadence(load_within_s=30.0))
        self.tables = [each.table.name for each in (kind, *_BESIDE)]  # whose changes are read

    def around(self) -> JourneyPublications:
        """What was published when the journeys were read."""
        return self.value().around

    def holdouts(self) -> Mapping[str, int]:
        """The shares of members who are held out, by country."""
        return self.around().beside.holdouts

    def asked(self) -> Asked:
        """The types of events that journeys ask for; the same object until a document changes."""
        now = self.value()
        if self._asked is None or self._asked[0] is not now:
            self._asked = now, Asked(now.around.beside.sources, now.since())
        return self._asked[1]

    async def _load(self, before: _Read | None) -> _Read:
        async with passing_failures():
            rows = await self._pool.fetch(*_RUNNING())
            heads = await self._pool.fetch(*_HEADS())
            ended = await self._pool.fetch(*_ENDED())
        there = [(name, version) for name, version, _ in rows]
        newest = [(name, version) for name, version, is_newest in rows if is_newest]
        versions = {each.place: each for each in (before.versions if before is not None else ())}
        taking = {(each.name, each.version): each for each in (before.newest if before is not None else ())}
        unread = [each for each in there if each not in versions or (each in newest and each not in taking)]
        async for journey in self._versions.these(unread):  # of all but the newest no more is kept than this
            place = journey.name, journey.version
            versions[place] = events_of(journey)
            if place in newest:
                taking[place] = journey
        return _Read(
            [versions[each] for each in there],
            [taking[each] for each in newest],
            frozenset(row[0] for row in ended),
            {name: JourneyHead(country, None) for name, country, _ in heads},
            {name: ZoneInfo(zone) for name, _, zone in heads},
            await read_halts(self._pool),
            await read_moment(self._pool, *_BESIDE, before=before.beside if before is not None else NOTHING_READ),
        )

    def _build(self, read: _Read) -> Running:
        sources = by_name(self._built_in, read.beside.of(SOURCES))
        counters = {each.name: each for each in read.beside.of(COUNTERS)}
        services = {each.name: each.service.answers for each in read.beside.of(DOWNSTREAMS) if each.service}
        holdouts, known = holdouts_of(read.beside), self._around
        published = sources, counters, services, holdouts, read.heads
        if known is None or published != (
            known.beside.sources,
            known.beside.counters,
            known.beside.externals,
            known.beside.holdouts,
            known.journeys,
        ):
            # What was approved names no segment, no webhook, no region and no campaign that was not there.
            every = AnyName()
            beside = Publications(
                sources,
                self._clock.now(),
                counters=counters,
                segments=every,
                webhooks=every,
                regions=every,
                externals=services,
                holdouts=holdouts,
            )
            known = self._around = JourneyPublications(beside, journeys=read.heads, campaigns=every)
        return Running(read.versions, read.newest, known, read.halts, read.ended, read.zones)


def _by_source(types: Iterable[EventType]) -> dict[str, set[str]]:
    by_source: dict[str, set[str]] = {}
    for source, type_ in types:
        by_source.setdefault(source, set()).add(type_)
    return by_source
