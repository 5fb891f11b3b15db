"""Up to when the events of each partition were read, by the broker's time: waits for an event end by the clock only
before that. Else members would be timed out whose event is on its way.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final, NamedTuple, Protocol

from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, arrays, columns, unnested


class _Row(NamedTuple):
    """A row of `journey_heard`."""

    topic: str
    partition: int
    upto: datetime


_HEAR: Final = Statement(f"""
insert into journey_heard as h ({columns(_Row)})
select u.* from {unnested(_Row, partition="integer")} order by u.topic, u.partition
on conflict (topic, partition) do update set upto = excluded.upto where h.upto < excluded.upto
""")
_UPTO: Final = Statement("""
select topic, min(upto) from journey_heard where topic = any(:topics::text[]) group by topic
""")


class Heard(Protocol):
    """Tells up to when events were read."""

    async def upto(self, topics: Collection[str], /) -> datetime | None:
        """Up to when the events of all these topics were read; None where that is not known. Raises `Unavailable`."""
        ...


class HeardStore:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def hear(self, topic: str, upto: Mapping[int, datetime]) -> None:
        """What came of the events of these partitions up to these times is durable. A time never goes back."""
        rows = [_Row(topic, partition, at) for partition, at in upto.items()]
        if rows:
            async with passing_failures():
                await self._pool.execute(*_HEAR(**arrays(_Row, rows)))

    async def upto(self, topics: Collection[str]) -> datetime | None:
        """The least over the partitions of all these topics; None where nothing was heard of one."""
        async with passing_failures():
            rows = await self._pool.fetch(*_UPTO(topics=list(topics)))
        return min((row[1] for row in rows), default=None) if len(rows) == len({*topics}) else None
