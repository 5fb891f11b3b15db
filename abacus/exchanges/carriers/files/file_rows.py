"""Files and what they were asked for, in Postgres."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Final, NamedTuple
from uuid import UUID

from abacus.exchanges.decide.transfer_file import FileName, Line, stem
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, arrays, columns, unnested


class FileRow(NamedTuple):
    """A file. `answered_at` is there once each of its lines is answered; a `fault` is that of its last answer."""

    name: str
    programme: str
    day: date
    seq: int
    made_at: datetime
    lines: int
    amount: int
    digest: str | None
    written_at: datetime | None
    received_at: datetime | None
    accepted: bool | None
    reason: str | None
    results: int
    results_digest: str | None
    answered_at: datetime | None
    fault: str | None

    def file_name(self, partner: str) -> FileName:
        return FileName(partner, self.day, self.seq)


class _Order(NamedTuple):
    """A line that waits for a file."""

    exchange_id: UUID
    line: str


class Ordered(NamedTuple):
    """A line of a file, with what its exchange says of the transfer."""

    exchange_id: UUID
    line: Line
    link_id: UUID
    theirs: int
    points: int
    version: int
    asked_at: datetime


_COLUMNS: Final = columns(FileRow)
# What is asked again while it waits, or while its file is not answered, stands there already. Once its file is answered
# it is a new question, and waits for another file.
_ENTER: Final = Statement(f"""
with again as (
    update exchange_order o set file = null from {unnested(_Order)}
    where (o.exchange_id, o.line) = (u.exchange_id, u.line) and exists (
        select from exchange_file f where f.name = o.file and f.answered_at is not null
    )
)
insert into exchange_order (exchange_id, line, programme, entered_at)
select u.exchange_id, u.line, :programme, :now from {unnested(_Order)} order by u.exchange_id, u.line
on conflict do nothing
""")
_LATEST_DAY: Final = Statement("select max(day) from exchange_file where programme = :programme")
# A name has the partner and no programme, so a partner's files are counted over all its programmes: a colon comes after
# all digits.
_NEXT_SEQ: Final = Statement("""
select coalesce(max(seq), 0) + 1 from exchange_file
where day = :day and (programme = :programme or (name > :stem and name < :stem || ':'))
""")
_LOCK: Final = Statement("select pg_advisory_xact_lock(hashtext('exchange_files:' || :of))")
_MAKE: Final = Statement(f"""
insert into exchange_file (name, programme, day, seq, made_at, lines, amount)
values (:name, :programme, :day, :seq, :now, 0, 0) returning {_COLUMNS}
""")
# An id stands once in a file: what is asked for it after that waits for the next one.
_FILL: Final = Statement("""
with filled as (
    update exchange_order o set file = :name from (
        select distinct on (exchange_id) exchange_id, line from exchange_order
        where programme = :programme and file is null order by exchange_id, entered_at, line desc limit :most
    ) first where (o.exchange_id, o.line) = (first.exchange_id, first.line)
    returning o.exchange_id
), carried as (
    update exchange e set file = :name from filled f where e.exchange_id = f.exchange_id
)
select count(*) from filled
""")
_OPEN: Final = Statement(f"""
select {_COLUMNS} from exchange_file where programme = :programme and answered_at is null order by day, seq
""")
_ALL: Final = Statement(f"""
select {_COLUMNS} from exchange_file where programme = :programme order by day desc, seq desc limit :limit
""")
_ONE: Final = Statement(f"select {_COLUMNS} from exchange_file where name = :name")
_ORDERS: Final = Statement("""
select o.exchange_id, o.line, e.link_id, e.theirs, e.points, e.version, e.asked_at
from exchange_order o join exchange e using (exchange_id) where o.file = :name order by o.exchange_id, o.line
""")
_SEAL: Final = Statement("""
update exchange_file set digest = coalesce(digest, :digest) where name = :name returning digest
""")
_WRITTEN: Final = Statement("update exchange_file set written_at = :now where name = :name and written_at is null")
_RECEIVED: Final = Statement("""
update exchange_file set received_at = :now, accepted = :accepted, reason = :reason, fault = null,
    answered_at = case when not :accepted or lines = 0 then :now::timestamptz end
where name = :name and received_at is null returning 1
""")
_BACK: Final = Statement("update exchange_order set file = null where file = :name")
_ANSWERED: Final = Statement("""
update exchange_file set results = :results, results_digest = :digest, fault = null,
    answered_at = case when lines = :results then :now::timestamptz end
where name = :name
""")
_FAULT: Final = Statement("update exchange_file set fault = :fault where name = :name")
_LINES: Final = Statement("""
update exchange_file f set lines = s.lines, amount = s.amount from (
    select count(*)::integer as lines, coalesce(sum(e.theirs) filter (where o.line = 'TRANSFER'), 0)::bigint as amount
    from exchange_order o join exchange e using (exchange_id) where o.file = :name
) s where f.name = :name
""")


class FileRows:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def enter(self, programme: str, orders: Sequence[tuple[UUID, Line]], now: datetime) -> None:
        """Lines for the next file; a line that waits, or whose file is not answered yet, stays where it is."""
        rows = [_Order(id_, line.value) for id_, line in orders]
        async with passing_failures():
            await self._pool.execute(*_ENTER(**arrays(_Order, rows), programme=programme, now=now))

    async def latest_day(self, programme: str) -> date | None:
        async with passing_failures():
            found: date | None = await self._pool.fetchval(*_LATEST_DAY(programme=programme))
            return found

    async def make(self, programme: str, partner: str, day: date, now: datetime, most: int) -> FileRow:
        """A file of the day with what waits, be it nothing."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            for of in (f"programme:{programme}", f"partner:{partner}"):
                await connection.execute(*_LOCK(of=of))
            seq = await connection.fetchval(*_NEXT_SEQ(programme=programme, day=day, stem=stem(partner, day)))
            name = str(FileName(partner, day, seq))
            await connection.execute(*_MAKE(name=name, programme=programme, day=day, seq=seq, now=now))
            await connection.execute(*_FILL(name=name, programme=programme, most=most))
            await connection.execute(*_LINES(name=name))
            return FileRow(*await connection.fetchrow(*_ONE(name=name)))

    async def still_open(self, programme: str) -> list[FileRow]:
        """Files that are not wholly answered; the oldest first."""
        async with passing_failures():
            return [FileRow(*row) for row in await self._pool.fetch(*_OPEN(programme=programme))]

    async def listed(self, programme: str, limit: int) -> list[FileRow]:
        """The newest first."""
        async with passing_failures():
            return [FileRow(*row) for row in await self._pool.fetch(*_ALL(programme=programme, limit=limit))]

    async def orders(self, name: str) -> list[Ordered]:
        async with passing_failures():
            rows = await self._pool.fetch(*_ORDERS(name=name))
        return [Ordered(*row)._replace(line=Line(row["line"])) for row in rows]

    async def sealed(self, name: str, digest: str) -> bool:
        """Before the file is written: whether it would be written as it was the first time."""
        async with passing_failures():
            first: str = await self._pool.fetchval(*_SEAL(name=name, digest=digest))
        return first == digest

    async def written(self, name: str, now: datetime) -> None:
        async with passing_failures():
            await self._pool.execute(*_WRITTEN(name=name, now=now))

    async def received(self, name: str, now: datetime, *, accepted: bool, reason: str | None) -> None:
        """The lines of a file that is refused wait for another one."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            is_new = await connection.fetchval(*_RECEIVED(name=name, now=now, accepted=accepted, reason=reason))
            if is_new and not accepted:
                await connection.execute(*_BACK(name=name))

    async def answered(self, name: str, results: int, digest: str, now: datetime) -> None:
        async with passing_failures():
            await self._pool.execute(*_ANSWERED(name=name, results=results, digest=digest, now=now))

    async def at_fault(self, name: str, fault: str) -> None:
        async with passing_failures():
            await self._pool.execute(*_FAULT(name=name, fault=fault))
