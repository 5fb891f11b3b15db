"""The record of backfills: parts of a topic that a definition counts although they were there before it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, arrays
from abacus.signals.counters.series import (
    BEGIN,
    NUMBERING,
    START,
    StartRow,
    Tally,
    Version,
    WriterStart,
    tally_rows,
    writer_of,
)

LIVE: Final = 0
_NO_END: Final = 1 << 62

_KNOWN: Final = Statement("""
select s.part, s.series, (t.writer % 65536)::integer as partition, t.first, t.after
from counter_series s join counter_start t on t.writer / 65536 = s.series
    and t.definition_id = :id and t.definition_version = :version
where s.topic = :topic and s.identity = :identity
    and (s.definition_id = 0 or s.definition_id = :id and s.definition_version = :version)
order by s.part, partition
""")


_OPEN: Final = Statement("""
insert into counter_series (series, topic, identity, definition_id, definition_version, part, begins_at, opened_at)
select coalesce(max(series), 0) + 1, :topic, :identity, :id, :version, :part, :since, :now from counter_series
on conflict on constraint counter_series_of_key do nothing returning series
""")


class Part(NamedTuple):
    """The offsets of each partition that a definition counts in one series. The part `LIVE` has no ends."""

    number: int
    series: int
    ranges: Mapping[int, range]

    def writer(self, partition: int) -> int:
        return writer_of(self.series, partition)


class Subject(NamedTuple):
    """What backfills of a topic are recorded under: its name and identity, and the definition."""

    topic: str
    identity: str
    definition: Version


class PartsBook:
    """The record in Postgres. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def known(self, of: Subject) -> list[Part]:
        """The live part, if the definition has begun anywhere, and then the others."""
        id_, version = of.definition
        async with passing_failures():
            rows = await self._pool.fetch(*_KNOWN(topic=of.topic, identity=of.identity, id=id_, version=version))
        parts: dict[int, Part] = {}
        for number, series, partition, first, after in rows:
            part = parts.setdefault(number, Part(number, series, {}))
            parts[number] = part._replace(
                ranges={**part.ranges, partition: range(first, _NO_END if after is None else after)}
            )
        return list(parts.values())

    async def open(self, of: Subject, number: int, since: datetime, ranges: Mapping[int, range]) -> Part:
        """Enters a new part, of which nothing is counted yet. Raises `Refused` when another process was quicker."""
        id_, version = of.definition
        now = self._clock.now()
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*NUMBERING())
            key = {"topic": of.topic, "identity": of.identity, "id": id_, "version": version, "part": number}
            series = await connection.fetchval(*_OPEN(**key, since=since, now=now))
            if series is None:
                raise Refused(f"another backfill of {of.topic} has begun a moment ago; wait until it has ended")
            part = Part(number, series, dict(ranges))
            starts = [
                StartRow(part.writer(partition), id_, version, offsets.start, offsets.stop, now)
                for partition, offsets in ranges.items()
            ]
            tallies = {each.writer: WriterStart(Tally(each.first - 1), {of.definition: each.first}) for each in starts}
            await connection.execute(*START(**arrays(StartRow, starts)))
            await connection.execute(*BEGIN(**tally_rows(tallies, now)))
        return part
