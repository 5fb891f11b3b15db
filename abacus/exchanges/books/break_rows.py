"""Breaks in Postgres: found once, taken by an owner, and closed by a person with a reason."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID, uuid4

from abacus.core.errors import Refused
from abacus.exchanges.decide.matching import Break, BreakKind
from abacus.platform.postgres import Also, Connection, Pool, passing_failures
from abacus.platform.sql import Narrowed, Statement, arrays, columns, unnested


class FoundBreak(NamedTuple):
    """A row. `tied_at` is there once both books agree again, before or after a person closes it."""

    break_id: UUID
    programme: str
    country: str
    kind: BreakKind
    about: str
    exchange_id: UUID | None
    ours: str
    theirs: str
    found_at: datetime
    tied_at: datetime | None
    owner: str | None
    taken_at: datetime | None
    closed_at: datetime | None
    closed_by: str | None
    reason: str | None


class _New(NamedTuple):
    """The columns of a break that was just found."""

    break_id: UUID
    kind: str
    about: str
    exchange_id: UUID | None
    ours: str
    theirs: str


_COLUMNS: Final = columns(FoundBreak)
# What a person closed is not found again by the same finding, unless both books agreed since it was last found.
_FIND: Final = Statement(f"""
with last as (
    select distinct on (kind, about) kind, about, ours, theirs, closed_at, tied_at from exchange_break
    where programme = :programme order by kind, about, closed_at desc nulls first
)
insert into exchange_break (break_id, programme, country, kind, about, exchange_id, ours, theirs, found_at)
select u.break_id, :programme, :country, u.kind, u.about, u.exchange_id, u.ours, u.theirs, :now
from {unnested(_New, exchange_id="uuid")} left join last l on l.kind = u.kind and l.about = u.about
where l.closed_at is null or l.tied_at is not null or (l.ours, l.theirs) <> (u.ours, u.theirs)
order by u.kind, u.about
on conflict (programme, kind, about) where closed_at is null
do update set ours = excluded.ours, theirs = excluded.theirs, tied_at = null
returning xmax = 0
""")
_TIE: Final = Statement("""
update exchange_break set tied_at = :now
where programme = :programme and about = any(:about::text[]) and kind = any(:kinds::text[])
    and tied_at is null
""")
_LIST: Final = Narrowed(
    f"select {_COLUMNS} from exchange_break {{where}} order by found_at desc, break_id limit :limit",
    programme="programme = :programme",
    kind="kind = :kind",
    exchange_id="exchange_id = :exchange_id::uuid",
    owner="owner = :owner",
    country="country = :country",
    countries="country = any(:countries::text[])",
    is_open="(closed_at is null) = :is_open",
)
_ONE: Final = Statement(f"select {_COLUMNS} from exchange_break where break_id = :break_id for update")
_TAKE: Final = Statement("update exchange_break set owner = :owner, taken_at = :now where break_id = :break_id")
_CLOSE: Final = Statement("""
update exchange_break set closed_at = :now, closed_by = :by, reason = :reason where break_id = :break_id
""")
_OPEN: Final = """
select programme, kind, count(*) as breaks, min(found_at) as oldest from exchange_break where closed_at is null
group by programme, kind order by programme, kind
"""


class OpenBreaks(NamedTuple):
    """How many breaks of a kind are open, and since when the oldest."""

    programme: str
    kind: str
    breaks: int
    oldest: datetime


class BreakRows:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def of(self, break_id: UUID) -> FoundBreak | None:
        async with passing_failures():
            row = await self._pool.fetchrow(*_ONE(break_id=break_id))
        return None if row is None else _break(row)

    async def listed(self, narrowed: dict[str, object], limit: int) -> list[FoundBreak]:
        async with passing_failures():
            return [_break(row) for row in await self._pool.fetch(*_LIST(narrowed, limit=limit))]

    async def still_open(self) -> list[OpenBreaks]:
        async with passing_failures():
            return [OpenBreaks(*row) for row in await self._pool.fetch(_OPEN)]

    async def take(self, break_id: UUID, owner: str, now: datetime, also: Also) -> FoundBreak:
        """From now on it is this owner's. Raises `Refused` for a break that is closed, or not there."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            found = await _locked(connection, break_id)
            await connection.execute(*_TAKE(break_id=break_id, owner=owner, now=now))
            await also(connection)
        return found._replace(owner=owner, taken_at=now)

    async def close(self, break_id: UUID, by: str, reason: str, now: datetime, also: Also) -> FoundBreak:
        """Raises `Refused` for a break that is closed, or not there."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            found = await _locked(connection, break_id)
            await connection.execute(*_CLOSE(break_id=break_id, by=by, reason=reason, now=now))
            await also(connection)
        return found._replace(closed_at=now, closed_by=by, reason=reason)


async def write_breaks(
    connection: Connection, programme: str, country: str, found: Sequence[Break], now: datetime
) -> int:
    """A difference that is known already stays one break, also where a person closed it, until both books agree.
    Returns how many are new.
    """
    if not found:
        return 0
    news = [_New(uuid4(), each.kind, each.about, each.exchange_id, each.ours, each.theirs) for each in found]
    rows = await connection.fetch(*_FIND(**arrays(_New, news), programme=programme, country=country, now=now))
    return sum(row[0] for row in rows)


async def tie(
    connection: Connection, programme: str, about: Collection[str], kinds: Collection[BreakKind], now: datetime
) -> None:
    """Both books agree about these by now; closed breaks say so too, and may be found anew."""
    await connection.execute(*_TIE(programme=programme, about=list(about), kinds=list(kinds), now=now))


async def _locked(connection: Connection, break_id: UUID) -> FoundBreak:
    row = await connection.fetchrow(*_ONE(break_id=break_id))
    if row is None:
        raise Refused(f"there is no break {break_id}")
    found = _break(row)
    if found.closed_at is not None:
        raise Refused(f"{found.closed_by} closed this break at {found.closed_at.isoformat()}")
    return found


def _break(row: Sequence[object]) -> FoundBreak:
    found = FoundBreak(*row)  # type: ignore[arg-type]  # the columns of the row type
    return found._replace(kind=BreakKind(found.kind))
