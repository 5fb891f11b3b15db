"""Holds our exchanges against a partner's statement: every id ties, or is a break."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from uuid import UUID

from abacus.core.clock import Clock
from abacus.exchanges.books.break_rows import tie, write_breaks
from abacus.exchanges.decide.exchange import State
from abacus.exchanges.decide.matching import (
    BY_LINE,
    Break,
    BreakKind,
    Ours,
    judge,
    missing_statement,
    missing_there,
    unknown_here,
)
from abacus.exchanges.decide.programme import Direction, Programme
from abacus.exchanges.types import PartnerStatement, StatementLine, StatementState
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.sql import Statement, arrays, columns, unnested

_DAY: Final = timedelta(days=1)
_LOCK: Final = Statement("select pg_advisory_xact_lock(hashtext('exchange_books:' || :programme))")
_KEEP_DAY: Final = Statement("""
insert into exchange_partner_day values (:programme, :day, :complete, :lines, :credited, :now)
on conflict (programme, day) do update set complete = excluded.complete, lines = excluded.lines,
    credited = excluded.credited, read_at = excluded.read_at
""")
_FORGET_LINES: Final = Statement("delete from exchange_partner_line where programme = :programme and day = :day")
_KEEP_LINES: Final = Statement(f"""
insert into exchange_partner_line (programme, day, id, state, amount, at, reference)
select :programme, :day, u.* from {unnested(StatementLine, state="text", reference="text")}
""")
# A statement is of a partner, which may have several programmes.
_OURS: Final = Statement(f"""
select {columns(Ours)}, programme from exchange
where (programme = :programme or partner = :partner) and direction = '{Direction.OUT}'
    and exchange_id = any(:ids::uuid[])
""")
_CREDITED: Final = Statement(f"""
select {columns(Ours, "e")} from exchange e
where e.programme = :programme and e.direction = '{Direction.OUT}'
    and e.credited_at >= :since and e.credited_at < :until
    and not exists (select from exchange_partner_line l where l.programme = e.programme and l.id = e.exchange_id::text)
""")
_COMPLETE: Final = Statement("""
select day from exchange_partner_day where programme = :programme and day = any(:days::date[]) and complete
""")
_UNREAD: Final = Statement("""
select d::date from unnest(:days::date[]) d
where not exists (
    select from exchange_partner_day p where p.programme = :programme and p.day = d::date and p.read_at >= :after
) order by 1
""")
_LACKING: Final = Statement("""
select d::date from generate_series(:since::date, :until::date, interval '1 day') d
where not exists (select from exchange_partner_day p where p.programme = :programme and p.day = d::date and p.complete)
order by 1
""")


class Matched(NamedTuple):
    """A statement that was held against our exchanges: its lines, and how many breaks are new."""

    day: date
    complete: bool
    lines: int
    new_breaks: int


class Matcher:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def lacking(self, programme: Programme, since: date, until: date) -> list[date]:
        """Days without a complete statement."""
        async with passing_failures():
            rows = await self._pool.fetch(*_LACKING(programme=programme.name, since=since, until=until))
        return [row[0] for row in rows]

    async def unread(self, programme: str, days: Sequence[date], after: datetime) -> list[date]:
        """The days whose statements were not read since then."""
        async with passing_failures():
            rows = await self._pool.fetch(*_UNREAD(programme=programme, days=list(days), after=after))
        return [row[0] for row in rows]

    async def match(self, programme: Programme, statement: PartnerStatement) -> Matched:
        """The same statement again changes nothing."""
        now, day, lines = self._clock.now(), statement.day, _last(statement.lines)
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_LOCK(programme=programme.name))
            await _keep(connection, programme, statement, lines, now)
            found = await _judged(connection, programme, lines)
            for past in (day - _DAY, day):
                found += await _missing(connection, programme, past)
            await _tie_others(connection, programme, lines, found, now)
            if statement.complete:
                await tie(connection, programme.name, [day.isoformat()], [BreakKind.MISSING, BreakKind.SUMS], now)
            new = await write_breaks(connection, programme.name, programme.country, found, now)
        return Matched(day, statement.complete, len(statement.lines), new)

    async def note(
        self,
        programme: Programme,
        found: Sequence[Break],
        agreed: Mapping[BreakKind, Sequence[str]] = MappingProxyType({}),
    ) -> int:
        """Breaks that were found otherwise, and what both books agree about by now; how many breaks are new."""
        now = self._clock.now()
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            for kind, about in agreed.items():
                await tie(connection, programme.name, about, [kind], now)
            return await write_breaks(connection, programme.name, programme.country, found, now)

    async def note_missing(self, programme: Programme, days: Iterable[date]) -> int:
        return await self.note(programme, [missing_statement(day) for day in days])


async def _keep(
    connection: Connection,
    programme: Programme,
    statement: PartnerStatement,
    last: Sequence[StatementLine],
    now: datetime,
) -> None:
    name = programme.name
    credited = sum(each.amount for each in statement.lines if each.state is StatementState.CREDITED)
    await connection.execute(
        *_KEEP_DAY(
            programme=name,
            day=statement.day,
            complete=statement.complete,
            lines=len(statement.lines),
            credited=credited,
            now=now,
        )
    )
    await connection.execute(*_FORGET_LINES(programme=name, day=statement.day))
    await connection.execute(*_KEEP_LINES(programme=name, day=statement.day, **arrays(StatementLine, last)))


async def _judged(connection: Connection, programme: Programme, lines: Sequence[StatementLine]) -> list[Break]:
    """A line of another programme of the partner is matched by that programme's own statement."""
    ids = {line.id: id_ for line in lines if (id_ := _as_id(line.id)) is not None}
    at = {"programme": programme.name, "partner": programme.partner}
    rows = await connection.fetch(*_OURS(**at, ids=list(ids.values())))
    others = {row["exchange_id"] for row in rows if row["programme"] != programme.name}
    ours = {row["exchange_id"]: _ours_in(row) for row in rows if row["programme"] == programme.name}
    judged = [
        unknown_here(line) if (known := ours.get(ids.get(line.id))) is None else judge(known, line)
        for line in lines
        if ids.get(line.id) not in others
    ]
    return [each for each in judged if each is not None]


async def _missing(connection: Connection, programme: Programme, day: date) -> list[Break]:
    """Of a day that is complete, and the day after it too: an exchange may be told to us behind midnight."""
    days = [day, day + _DAY]
    if len(await connection.fetch(*_COMPLETE(programme=programme.name, days=days))) < len(days):
        return []
    since, until = (datetime.combine(each, time(), UTC) for each in days)
    rows = await connection.fetch(*_CREDITED(programme=programme.name, since=since, until=until))
    return list(missing_there(map(_ours_in, rows)))


def _ours_in(row: Any) -> Ours:
    return Ours(row["exchange_id"], State(row["state"]), row["theirs"])


async def _tie_others(
    connection: Connection, programme: Programme, lines: Sequence[StatementLine], found: Sequence[Break], now: datetime
) -> None:
    differing = {each.about for each in found}
    await tie(connection, programme.name, [line.id for line in lines], [BreakKind.NOT_THEIRS], now)
    await tie(connection, programme.name, [line.id for line in lines if line.id not in differing], BY_LINE, now)


def _last(lines: Iterable[StatementLine]) -> list[StatementLine]:
    """Where each id stands at the end of the day: an id that is credited and reversed has two lines."""
    return list({each.id: each for each in sorted(lines, key=lambda line: line.at)}.values())


def _as_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
