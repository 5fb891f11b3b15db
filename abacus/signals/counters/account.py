"""What the writers have recorded about the events of each partition, to be held against the topics."""

from typing import Final

from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, row_of
from abacus.signals.counters.decide.account import PartitionAccount

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
