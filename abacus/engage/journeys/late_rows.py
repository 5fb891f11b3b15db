"""Entries that could not be decided, in the slice of their members: each waits until it is due, or was tried as often
as any is and waits for people.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from abacus.engage.journeys.seat_rows import HAS_ENTERED
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, arrays, columns, unnested

_LONGEST_FAULT: Final = 1000  # characters
_TYPES: Final = {"version": "integer", "tries": "integer", "event": "json", "context": "json", "due_at": "timestamptz"}


class LateEntry(NamedTuple):
    """What would bring a member in `at` a time, under a key; `event` and `context` are JSON. Tried so often, it is due
    at a time; none where nobody tries it any more.
    """

    member_id: str
    journey: str
    key: str
    version: int
    at: datetime
    event: bytes | None
    context: bytes | None
    tries: int
    due_at: datetime | None
    fault: str
    set_aside_at: datetime


class Undecided(NamedTuple):
    """What came `at` a time by which a member could enter, why it cannot be decided, and when it is tried again; people
    have to try where there is no such time.
    """

    key: str
    version: int
    at: datetime
    fault: str
    tries: int
    due_at: datetime | None


class _Key(NamedTuple):
    member_id: str
    journey: str
    key: str


# A topic may be read again: the first row of an entry stays, and an entry by which the member came in is not late.
_KEEP: Final = Statement(f"""
insert into journey_entry_aside ({columns(LateEntry)}) select u.* from {unnested(LateEntry, **_TYPES)}
where not {HAS_ENTERED} order by u.member_id, u.journey, u.key on conflict do nothing
""")
# Who takes entries has time to decide them until they are due again, and locks nothing meanwhile.
_TAKE: Final = Statement(f"""
update journey_entry_aside a set due_at = :until
from (
    select member_id, journey, key from journey_entry_aside
    where journey = :journey and due_at <= :now order by due_at limit :most for update skip locked
) t
where a.member_id = t.member_id and a.journey = t.journey and a.key = t.key
returning {columns(LateEntry, "a")}
""")
_DUE: Final = Statement("""
select j.journey from unnest(:journeys::text[]) j (journey)
where exists(select from journey_entry_aside a where a.journey = j.journey and a.due_at <= :now)
""")
_DELETE: Final = Statement(f"""
delete from journey_entry_aside a using {unnested(_Key)}
where a.member_id = u.member_id and a.journey = u.journey and a.key = u.key
""")
_AGAIN: Final = Statement(f"""
update journey_entry_aside a set tries = u.tries, due_at = u.due_at, fault = u.fault, version = u.version
from {unnested(LateEntry, **_TYPES)}
where a.member_id = u.member_id and a.journey = u.journey and a.key = u.key
""")


_NEWEST: Final = 20  # that are told of a member
_OF_MEMBER: Final = Statement(f"""
select {columns(Undecided)} from journey_entry_aside where member_id = :member_id and journey = :journey
order by at desc, key limit {_NEWEST}
""")


async def keep_late(connection: Connection, entries: Iterable[LateEntry]) -> None:
    """Entries that are late from now on."""
    if rows := [_storable(each) for each in entries]:
        await connection.execute(*_KEEP(**arrays(LateEntry, rows)))


async def journeys_with_late(connection: Connection, journeys: Sequence[str], now: datetime) -> list[str]:
    """Those of these journeys of which entries are due."""
    return [row[0] for row in await connection.fetch(*_DUE(journeys=list(journeys), now=now))] if journeys else []


async def take_late(
    connection: Connection, journey: str, now: datetime, meanwhile: timedelta, most: int
) -> list[LateEntry]:
    """Entries that are due; nobody else takes them in the meantime."""
    rows = await connection.fetch(*_TAKE(journey=journey, now=now, until=now + meanwhile, most=most))
    return [LateEntry(*row) for row in rows]


async def end_late(connection: Connection, done: Collection[LateEntry], again: Collection[LateEntry]) -> None:
    """Some are decided, and some are to be tried again, or never."""
    if done:
        keys = [_Key(*each[:3]) for each in done]
        await connection.execute(*_DELETE(**arrays(_Key, keys)))
    if again:
        await connection.execute(*_AGAIN(**arrays(LateEntry, [_storable(each) for each in again])))


async def undecided_of(connection: Connection, journey: str, member_id: str) -> list[Undecided]:
    """The newest ones of a member, in the order of their times."""
    rows = await connection.fetch(*_OF_MEMBER(member_id=member_id, journey=journey))
    return [Undecided(*row) for row in reversed(rows)]


def _storable(entry: LateEntry) -> LateEntry:
    return entry._replace(
        fault=entry.fault.replace("\0", "")[:_LONGEST_FAULT], event=_bytes(entry.event), context=_bytes(entry.context)
    )


def _bytes(text: bytes | str | None) -> bytes | None:
    """Of a column of JSON, which is read as a text."""
    return text.encode() if isinstance(text, str) else text
