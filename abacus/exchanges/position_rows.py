"""Positions in Postgres: who writes entries locks the standings of their programmes first, in the order of names."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID

from abacus.exchanges.decide.position import Entry, EntryKind, change
from abacus.exchanges.decide.programme import Direction
from abacus.platform.postgres import Connection, Pool
from abacus.platform.sql import Statement, arrays, columns, unnested

_COLUMNS: Final = columns(Entry)
_TYPES: Final = {
    "kind": "text",
    "direction": "text",
    "exchange_id": "uuid",
    "document": "text",
    "money": "numeric",
    "balance_after": "numeric",
    "reason": "text",
}


class Standing(NamedTuple):
    """A row of `exchange_standing`: the number of the last entry, and the balance after it."""

    programme: str
    last_n: int
    balance: Decimal


class EntryDraft(NamedTuple):
    """An entry before it has its number and its balance."""

    programme: str
    kind: EntryKind
    money: Decimal
    currency: str
    by: str
    direction: Direction | None = None
    exchange_id: UUID | None = None
    document: str | None = None
    points: int = 0
    theirs: int = 0
    reason: str | None = None


_OPEN: Final = Statement("""
insert into exchange_standing select programme, 0, 0 from unnest(:programmes::text[]) as u (programme)
order by programme on conflict do nothing
""")
_KNOWN: Final = Statement("select count(*) from exchange_standing where programme = any(:programmes::text[])")
_LOCK: Final = Statement(f"""
select {columns(Standing)} from exchange_standing where programme = any(:programmes::text[]) order by programme
for update
""")
_SET: Final = Statement(f"""
update exchange_standing s set last_n = u.last_n, balance = u.balance from {unnested(Standing, balance="numeric")}
where s.programme = u.programme
""")
_WRITE: Final = Statement(f"insert into exchange_position ({_COLUMNS}) select u.* from {unnested(Entry, **_TYPES)}")
_BALANCES: Final = f"select {columns(Standing)} from exchange_standing order by programme"
_BEHIND: Final = Statement(f"""
select {_COLUMNS} from exchange_position where programme = :programme and n > :n order by n limit :most
""")


async def locked_standings(connection: Connection, programmes: Collection[str]) -> Mapping[str, Standing]:
    """Rows are opened before any is locked: who waits for another's new row holds none."""
    names = sorted(programmes)
    if await connection.fetchval(*_KNOWN(programmes=names)) < len(names):
        await connection.execute(*_OPEN(programmes=names))
    return {row["programme"]: Standing(*row) for row in await connection.fetch(*_LOCK(programmes=names))}


async def write_entries(
    connection: Connection, standings: Mapping[str, Standing], drafts: Sequence[EntryDraft], now: datetime
) -> None:
    """With the standings as they were locked, in the same transaction."""
    if not drafts:
        return
    after, entries = dict(standings), list[Entry]()
    for each in drafts:
        name, last_n, balance = after[each.programme]
        standing = after[name] = Standing(name, last_n + 1, balance + change(each.kind, each.money))
        entries.append(
            Entry(
                programme=name,
                n=standing.last_n,
                at=now,
                kind=each.kind,
                direction=each.direction,
                exchange_id=each.exchange_id,
                document=each.document,
                points=each.points,
                theirs=each.theirs,
                money=each.money,
                currency=each.currency,
                balance_after=standing.balance,
                by=each.by,
                reason=each.reason,
            )
        )
    await connection.execute(*_WRITE(**arrays(Entry, entries)))
    changed = [after[name] for name in sorted({each.programme for each in drafts})]
    await connection.execute(*_SET(**arrays(Standing, changed)))


async def standings(reader: Pool | Connection) -> Mapping[str, Standing]:
    return {row["programme"]: Standing(*row) for row in await reader.fetch(_BALANCES)}


async def entries_behind(reader: Pool | Connection, programme: str, n: int, most: int) -> list[Entry]:
    """In the order of their numbers."""
    return [entry_of(row) for row in await reader.fetch(*_BEHIND(programme=programme, n=n, most=most))]


def entry_of(row: Sequence[object]) -> Entry:
    entry = Entry(*row)  # type: ignore[arg-type]  # the columns of the row type
    direction = None if entry.direction is None else Direction(entry.direction)
    return entry._replace(kind=EntryKind(entry.kind), direction=direction)
