"""Up to when the events of each partition were read, by the broker's time: waits for an event end by the clock only
before that. Else members would be timed out whose event is on its way. The members of a slice that was passed over are
behind, until their events were read again.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final, NamedTuple, Protocol

from abacus.platform.kafka.offsets import EPOCH
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, arrays, columns, unnested


class _Row(NamedTuple):
    """A row of `journey_heard`."""

    topic: str
    partition: int
    upto: datetime


class _Behind(NamedTuple):
    """A row of `journey_behind`."""

    topic: str
    partition: int
    slice: int
    upto: datetime


# What was heard before was heard for the members of all slices.
_FALL_BEHIND: Final = Statement(f"""
insert into journey_behind ({columns(_Behind)})
select :topic, p.partition, s.slice, coalesce((
    select h.upto from journey_heard h where h.topic = :topic and h.partition = p.partition
), :first)
from unnest(:partitions::integer[]) p (partition) cross join unnest(:slices::integer[]) s (slice)
order by p.partition, s.slice on conflict do nothing
""")
_COME_UP: Final = Statement(f"""
update journey_behind b set upto = u.upto from {unnested(_Row, partition="integer")}
where b.topic = u.topic and b.partition = u.partition and b.slice <> all(:slices::integer[]) and b.upto < u.upto
""")
_HAVE_COME_UP: Final = Statement("""
delete from journey_behind b using journey_heard h
where b.topic = :topic and b.partition = any(:partitions::integer[]) and h.topic = b.topic
    and h.partition = b.partition and b.upto >= h.upto and b.slice <> all(:slices::integer[])
""")
_BEHIND: Final = Statement("""
select slice, min(upto) from journey_behind where topic = any(:topics::text[]) group by slice
""")
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

    async def behind(self, topics: Collection[str], /) -> Mapping[int, datetime]:
        """The slices for whose members they were read only up to an earlier time. Raises `Unavailable`."""
        ...


class HeardStore:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def hear(self, topic: str, upto: Mapping[int, datetime], *, but: Collection[int] = ()) -> None:
        """What came of the events of these partitions up to these times is durable, but for the members of the slices
        that are named. A time never goes back: `EPOCH` says nothing of a partition.
        """
        rows, slices = arrays(_Row, [_Row(topic, partition, at) for partition, at in upto.items()]), sorted(but)
        if not upto:
            return
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            if slices:
                behind = _FALL_BEHIND(topic=topic, partitions=list(upto), slices=slices, first=EPOCH)
                await connection.execute(*behind)
            await connection.execute(*_HEAR(**rows))
            await connection.execute(*_COME_UP(**rows, slices=slices))
            moved = [partition for partition, at in upto.items() if at > EPOCH]
            await connection.execute(*_HAVE_COME_UP(topic=topic, partitions=moved, slices=slices))

    async def behind(self, topics: Collection[str]) -> Mapping[int, datetime]:
        """The slices for whose members the events of these topics were read only up to an earlier time. Asked for after
        `upto`, it is of no slice that had not come up to that.
        """
        if not topics:
            return {}
        async with passing_failures():
            return {row[0]: row[1] for row in await self._pool.fetch(*_BEHIND(topics=list(topics)))}

    async def upto(self, topics: Collection[str]) -> datetime | None:
        """The least over the partitions of all these topics; None where nothing was heard of one."""
        async with passing_failures():
            rows = await self._pool.fetch(*_UPTO(topics=list(topics)))
        return min((row[1] for row in rows), default=None) if len(rows) == len({*topics}) else None
