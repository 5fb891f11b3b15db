"""The one door to counters: their definitions are published and retired here, and what they counted is read."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, TypeVar

from abacus.core.clock import Clock
from abacus.core.errors import Absent, Refused, Unavailable, absent
from abacus.documents.desk import DocumentDesk
from abacus.documents.directory import read_moment
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, row_of
from abacus.signals.counters.decide.account import PartitionAccount
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.publications import CounterPublications
from abacus.signals.counters.kind import COUNTERS, held_sources
from abacus.signals.counters.new_keys import DayOfKeys, RefusedOnDay, new_keys_of, refused_keys
from abacus.signals.counters.reading.decide.plan import LookupPlan, Planner
from abacus.signals.counters.reading.room_sums import NO_SUMS, HouseSums
from abacus.signals.counters.reading.rounds import STORE
from abacus.signals.counters.reading.series_service import SeriesService
from abacus.signals.counters.reading.types import (
    Counted,
    KeyPage,
    KeyRange,
    Lookup,
    NotCounted,
    Series,
    SeriesLookup,
    Why,
)
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.store.postgres import PostgresCounterStore
from abacus.signals.counters.types import Grain, SlotRange
from abacus.signals.events.decide.builtin import POINTS, SOURCE_VARIABLE
from abacus.signals.events.decide.source import Source

_CHART_WITHIN_S: Final = 30.0

_Told = TypeVar("_Told")

_ACCOUNTS: Final = Statement("""
with begun as (select writer, min(first) as first from counter_start group by writer),
generation as (
    select series, dense_rank() over (partition by topic order by first_series) as generation
    from (select series, topic, min(series) over (partition by topic, identity) as first_series from counter_series) s
)
select s.topic, g.generation::integer as generation,
    d.document ->> 'name' || '@' || s.definition_version as counter,
    (t.writer % 65536)::integer as partition, least(b.first, t.upto + 1 - t.seen) as first, t.upto,
    t.seen, t.counted, t.ignored, t.repeated, t.set_aside
from counter_tally t
join counter_series s on s.series = t.writer / 65536
join generation g on g.series = s.series
left join begun b on b.writer = t.writer
left join counter_definition d on d.definition_id = s.definition_id and d.version = s.definition_version
order by s.topic, g.generation, s.series, partition
""")


async def accounts(pool: Pool) -> list[PartitionAccount]:
    """Of all topics that were ever counted, generation by generation. Raises `Unavailable`."""
    async with passing_failures():
        return [row_of(PartitionAccount, row) for row in await pool.fetch(*_ACCOUNTS())]


class CounterDesk(DocumentDesk[Definition, CounterPublications]):
    """`counts` is where they are, if that is another store than this database; `sums` are told as series beside them.
    Every method raises `Unavailable` while a store is away, and `Refused` for what cannot be done.
    """

    def __init__(
        self,
        pool: Pool,
        clock: Clock,
        built_in: Iterable[Source],
        counts: CounterStore | None = None,
        sums: HouseSums = NO_SUMS,
    ) -> None:
        super().__init__(pool, clock, COUNTERS, held_sources(tuple(built_in)))
        self._sums = sums
        self._counts = counts or PostgresCounterStore(pool, clock)

    async def count(self, lookups: Sequence[Lookup], now: datetime) -> list[Counted]:
        """All of them in one call of the store itself. Raises `Absent` for a key that nothing counts."""
        published = await read_moment(self._pool, COUNTERS)
        catalog = Catalog(published.of(COUNTERS), {})
        planner = Planner(catalog, int(now.timestamp()), late_by_s=0, keeps=lambda _: False)
        plans = [_planned(planner, lookup) for lookup in lookups]
        ranges = [SlotRange(plan.key, *slots) for plan in plans for slots in plan.shape.open]
        sums = iter(await self._counts.sums(ranges))
        return [plan.counted(sum(next(sums) for _ in plan.shape.open)) for plan in plans]

    async def series(self, lookups: Sequence[SeriesLookup]) -> list[Series]:
        """All of them from the store itself. Raises `Absent` for a key that nothing counts or adds up."""
        return [_told(each) for each in await (await self._charts()).series(lookups)]

    async def keys(self, name: str, after: str, most: int) -> KeyPage:
        """So many keys of the latest version, behind this one. Raises `Absent` for a name that no counter has."""
        charts = await self._charts()
        return await charts.keys(_named(charts, name), after, most)

    async def top(self, name: str, begin: int, end: int, most: int) -> KeyRange:
        """So many keys of the latest version with the largest counts in a range. Raises `Absent` for a name that no
        counter has.
        """
        charts = await self._charts()
        return _told(await charts.top(_named(charts, name), begin, end, most))

    async def points_of(self, source: str, begin: int, end: int, grain: Grain) -> Mapping[str, Series]:
        """The series of what points came from this source, by the names of the counters that count points under their
        source alone; what cannot be told is left out.
        """
        charts = await self._charts()
        keys = charts.catalog().keys_of(POINTS, SOURCE_VARIABLE, source)
        told = await charts.series([SeriesLookup(key, begin, end, grain) for key in keys.values()])
        return {name: each for name, each in zip(keys, told, strict=True) if isinstance(each, Series)}

    async def _charts(self) -> SeriesService:
        """By the definitions of this moment."""
        catalog = Catalog((await read_moment(self._pool, COUNTERS)).of(COUNTERS), {})
        return SeriesService(lambda: catalog, self._counts, self._clock, sums=self._sums, within_s=_CHART_WITHIN_S)

    async def new_keys(self, definition: Definition) -> Sequence[DayOfKeys]:
        """The days of the last weeks on which keys of the version were new, the latest first."""
        return await new_keys_of(self._pool, definition)

    async def refused_keys(self) -> Sequence[RefusedOnDay]:
        """The days on which counters had new keys enough, the latest first."""
        return await refused_keys(self._pool)

    async def accounts(self) -> Sequence[PartitionAccount]:
        """What became of the events of all topics that were ever counted."""
        return await accounts(self._pool)


def _named(charts: SeriesService, name: str) -> Definition:
    definition = charts.definition(name)
    if definition is None:
        raise absent("counter", name)
    return definition


def _told(outcome: _Told | NotCounted) -> _Told:
    if not isinstance(outcome, NotCounted):
        return outcome
    if outcome.why.is_ours:
        raise Unavailable(STORE, outcome.detail)
    raise (Absent if outcome.why is Why.UNKNOWN_KEY else Refused)(outcome.detail)


def _planned(planner: Planner, lookup: Lookup) -> LookupPlan:
    return _told(planner.plan(lookup))
