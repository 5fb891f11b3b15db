"""The record of the writers: a series for each topic that they read, and in each of its partitions the offset at which
a definition begins, and what became of the events so far.

A series is numbered, and a writer is a partition in a series. A topic that was deleted and created anew gets another
series, because its offsets begin again.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from abacus.core.clock import Clock
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.sql import Statement, arrays, columns, row_of, unnested
from abacus.signals.counters.decide.account import EventFates
from abacus.signals.counters.decide.admission import Day, Room
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.new_keys import record

_PARTITIONS: Final = 1 << 16
NO_NEW_KEYS: Final[Mapping[Day, Room]] = MappingProxyType({})

Version: TypeAlias = tuple[int, int]  # of a definition: its id and its version


class Tally(NamedTuple):
    """What became of the events of a partition up to the offset `upto`, all of which are saved. `last_print` is a
    digest of the record at `last_offset`, the last that was read.
    """

    upto: int
    seen: int = 0
    counted: int = 0
    ignored: int = 0
    repeated: int = 0
    set_aside: int = 0
    last_offset: int | None = None
    last_print: str | None = None

    @property
    def fates(self) -> EventFates:
        return EventFates(self.seen, self.counted, self.ignored, self.repeated, self.set_aside)


class WriterStart(NamedTuple):
    """Where a writer is: its tally, and the first offset that it counts for each definition."""

    tally: Tally
    starts: Mapping[Version, int]


class _Counting(NamedTuple):
    """The columns of `counter_tally` beside the tally: whose it is, and how many definitions the writer counts for."""

    writer: int
    starts: int
    moved_at: datetime


class StartRow(NamedTuple):
    """A row of `counter_start`."""

    writer: int
    definition_id: int
    definition_version: int
    first: int
    after: int | None
    recorded_at: datetime


_SERIES: Final = Statement("""
select series from counter_series
where topic = :topic and identity = :identity and definition_id = 0 and definition_version = 0 and part = 0
""")

_LATEST: Final = Statement(f"""
select s.identity, {columns(Tally, "t")} from counter_series s
join counter_tally t on t.writer = s.series * {_PARTITIONS} + :partition
where s.topic = :topic and s.identity ^@ :prefix and s.definition_id = 0
order by s.series desc limit 1
""")

_UPTOS: Final = Statement(f"""
select u.partition, l.upto from unnest(:partitions::integer[]) as u (partition)
cross join lateral (
    select t.upto from counter_series s join counter_tally t on t.writer = s.series * {_PARTITIONS} + u.partition
    where s.topic = :topic and s.identity ^@ :prefix and s.definition_id = 0
    order by s.series desc limit 1
) l
""")

# Processes that open series wait for each other, so that no two series get one number.
NUMBERING: Final = Statement("select pg_advisory_xact_lock(hashtext('counter series'))")

_OPEN_SERIES: Final = Statement("""
insert into counter_series (series, topic, identity, definition_id, definition_version, part, opened_at)
select coalesce(max(series), 0) + 1, :topic, :identity, 0, 0, 0, :now from counter_series
on conflict on constraint counter_series_of_key do nothing
""")

_TALLIES: Final = Statement(
    f"select writer, {columns(Tally)} from counter_tally where writer = any(:writers::bigint[])"
)

_STARTS: Final = Statement(f"select {columns(StartRow)} from counter_start where writer = any(:writers::bigint[])")

BEGIN: Final = Statement(f"""
insert into counter_tally ({columns(_Counting)}, {columns(Tally)})
select u.* from {unnested(_Counting, Tally, starts="integer")}
order by u.writer on conflict do nothing
""")

_LOCK: Final = Statement("select upto from counter_tally where writer = :writer for update")

START: Final = Statement(f"""
insert into counter_start ({columns(StartRow)})
select u.* from {unnested(StartRow, definition_id="integer", definition_version="integer")}
on conflict do nothing
""")

_KNOW: Final = Statement("""
update counter_tally set starts = (select count(*) from counter_start where writer = :writer) where writer = :writer
""")

# One statement, so that a start which is recorded meanwhile is noticed: a row that had to be waited for is compared
# once more.
_MOVE: Final = Statement(f"""
update counter_tally t
set moved_at = u.moved_at, {", ".join(f"{each} = u.{each}" for each in Tally._fields)}
from {unnested(_Counting, Tally, starts="integer")}
where t.writer = u.writer and t.upto < u.upto and t.starts = u.starts
returning t.writer
""")


def version_of(definition: Definition) -> Version:
    return definition.id, definition.version


def writer_of(series: int, partition: int) -> int:
    """The number of the writer, which is in the key of each of its rows."""
    return series * _PARTITIONS + partition


class SeriesBook:
    """The record in Postgres. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def live(self, topic: str, identity: str) -> int:
        """The series in which the topic of this identity is read as its events come."""
        which = {"topic": topic, "identity": identity}
        async with passing_failures():
            series = await self._pool.fetchval(*_SERIES(**which))
            if series is None:
                async with self._pool.acquire() as connection, connection.transaction():
                    await connection.execute(*NUMBERING())
                    await connection.execute(*_OPEN_SERIES(**which, now=self._clock.now()))
                    series = await connection.fetchval(*_SERIES(**which))
        return int(series)

    async def latest(self, topic: str, partition: int, prefix: str) -> tuple[str, Tally] | None:
        """The last identity of the topic that begins like this and in which the partition was begun, and the tally of
        the partition.
        """
        async with passing_failures():
            row = await self._pool.fetchrow(*_LATEST(topic=topic, partition=partition, prefix=prefix))
        return None if row is None else (row["identity"], row_of(Tally, row))

    async def uptos(self, topic: str, partitions: Collection[int], prefix: str) -> Mapping[int, int]:
        """The offset up to which each partition is counted, in the last identity of the topic that begins like this;
        partitions that were never begun are left out.
        """
        async with passing_failures():
            rows = await self._pool.fetch(*_UPTOS(topic=topic, partitions=list(partitions), prefix=prefix))
        return {row["partition"]: row["upto"] for row in rows}

    async def places(self, writers: Collection[int]) -> dict[int, WriterStart]:
        """Where these writers are; writers that have not begun are left out."""
        async with passing_failures(), self._pool.acquire() as connection:
            return await _places(connection, writers)

    async def begin(self, uptos: Mapping[int, int]) -> None:
        """Enters writers that have not begun, and the offsets behind which they will. Where another process was
        quicker, its entry stays.
        """
        rows = tally_rows({writer: WriterStart(Tally(upto), {}) for writer, upto in uptos.items()}, self._clock.now())
        async with passing_failures():
            await self._pool.execute(*BEGIN(**rows))

    async def start(self, writer: int, firsts: Mapping[Version, int]) -> WriterStart:
        """Records where definitions begin, and returns where the writer is then. A definition that has begun already
        stays where it began. A beginning that some process has passed is not recorded: the partition is that one's.
        """
        now = self._clock.now()
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            upto = await connection.fetchval(*_LOCK(writer=writer))
            rows = [StartRow(writer, *version, first, None, now) for version, first in firsts.items() if first > upto]
            await connection.execute(*START(**arrays(StartRow, rows)))
            await connection.execute(*_KNOW(writer=writer))
            return (await _places(connection, [writer]))[writer]

    async def move(
        self, places: Mapping[int, WriterStart], new_keys: Mapping[Day, Room] = NO_NEW_KEYS
    ) -> Collection[int]:
        """Saves the tallies, in one transaction with what became of new keys, and returns the writers whose tallies are
        saved. The others were passed by another process that counts the same partition, or definitions begin in it that
        the place lacks.
        """
        now = self._clock.now()
        rows = tally_rows(places, now)
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            moved = {row[0] for row in await connection.fetch(*_MOVE(**rows))}
            if recorded := {day: room for day, room in new_keys.items() if day.writer in moved}:
                uptos = {writer: place.tally.upto for writer, place in places.items()}
                await connection.execute(*record(recorded, uptos, now))
        return moved


def tally_rows(places: Mapping[int, WriterStart], now: datetime) -> dict[str, list[object]]:
    """The rows of writers, by columns."""
    writers = sorted(places)
    keys = [_Counting(writer, len(places[writer].starts), now) for writer in writers]
    return {**arrays(_Counting, keys), **arrays(Tally, [places[writer].tally for writer in writers])}


async def _places(connection: Connection, writers: Collection[int]) -> dict[int, WriterStart]:
    starts: dict[int, dict[Version, int]] = {writer: {} for writer in writers}
    for row in await connection.fetch(*_STARTS(writers=list(writers))):
        start = StartRow(*row)
        starts[start.writer][start.definition_id, start.definition_version] = start.first
    tallies = await connection.fetch(*_TALLIES(writers=list(writers)))
    return {row["writer"]: WriterStart(row_of(Tally, row), starts[row["writer"]]) for row in tallies}
