"""The one door to counters: their definitions are published and retired here, and what they counted is read."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from abacus.core.clock import Clock
from abacus.core.errors import Absent, Refused
from abacus.documents.desk import DocumentDesk
from abacus.documents.directory import read_moment
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, row_of
from abacus.signals.counters.decide.account import PartitionAccount
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.kind import COUNTERS, held_sources
from abacus.signals.counters.new_keys import DayOfKeys, RefusedOnDay, new_keys_of, refused_keys
from abacus.signals.counters.reading.decide.plan import LookupPlan, Planner
from abacus.signals.counters.reading.types import Counted, Lookup, NotCounted, Why
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.store.postgres import PostgresCounterStore
from abacus.signals.counters.types import SlotRange
from abacus.signals.events.decide.source import Source
from abacus.signals.events.kind import Sources

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


class CounterDesk(DocumentDesk[Definition, Sources]):
    """`counts` is where they are, if that is another store than this database. Every method raises `Unavailable` while
    a store is away, and `Refused` for what cannot be done.
    """

    def __init__(
        self, pool: Pool, clock: Clock, built_in: Iterable[Source], counts: CounterStore | None = None
    ) -> None:
        super().__init__(pool, clock, COUNTERS, held_sources(tuple(built_in)))
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

    async def new_keys(self, definition: Definition) -> Sequence[DayOfKeys]:
        """The days of the last weeks on which keys of the version were new, the latest first."""
        return await new_keys_of(self._pool, definition)

    async def refused_keys(self) -> Sequence[RefusedOnDay]:
        """The days on which counters had new keys enough, the latest first."""
        return await refused_keys(self._pool)

    async def accounts(self) -> Sequence[PartitionAccount]:
        """What became of the events of all topics that were ever counted."""
        return await accounts(self._pool)


def _planned(planner: Planner, lookup: Lookup) -> LookupPlan:
    plan = planner.plan(lookup)
    if isinstance(plan, NotCounted):
        raise (Absent if plan.why is Why.UNKNOWN_KEY else Refused)(plan.detail)
    return plan
