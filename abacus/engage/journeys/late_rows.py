"""What could not be decided for members, in their slice: entries, and events that move who is inside. Each waits until
it is due, or was tried as often as any is and waits for people.

Events that move a member wait in their order: the first is tried, and all of the member are due with it.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from abacus.engage.journeys.seat_rows import HAS_ENTERED
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, arrays, columns, unnested
from abacus.signals.events.types import Event

_LONGEST_FAULT: Final = 1000  # characters
_TYPES: Final = {"version": "integer", "tries": "integer", "event": "json", "context": "json", "due_at": "timestamptz"}


class Late(NamedTuple):
    """What would bring a member in `at` a time, under a key, or what `moves` the member; `event` and `context` are
    JSON. Tried so often, it is due at a time; none where nobody tries it any more.
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
    moves: bool = False

    @property
    def place(self) -> tuple[str, str]:
        return self.member_id, self.key

    def event_by(self, read: Callable[[bytes, datetime], Event | None]) -> Event | None:
        """The event, as it is read from JSON."""
        body = _bytes(self.event)
        return None if body is None else read(body, self.at)


class Undecided(NamedTuple):
    """What came `at` a time by which a member could enter, or which `moves` the member, why it cannot be decided, and
    when it is tried again; people have to try where there is no such time.
    """

    key: str
    version: int
    at: datetime
    fault: str
    tries: int
    due_at: datetime | None
    moves: bool


class _Key(NamedTuple):
    member_id: str
    journey: str
    key: str
    moves: bool


class _Due(NamedTuple):
    """When all events are due that move a member."""

    member_id: str
    journey: str
    due_at: datetime | None


_IN_ORDER: Final = "set_aside_at, at, key"
# A topic may be read again: the first row of an entry stays, and an entry by which the member came in is not late.
_KEEP: Final = Statement(f"""
insert into journey_entry_aside ({columns(Late)})
select {columns(Late, "u").replace("u.due_at", "case when f.is_there then f.due_at else u.due_at end")}
from {unnested(Late, **_TYPES)} left join lateral (
    select true as is_there, due_at from journey_entry_aside a
    where a.member_id = u.member_id and a.journey = u.journey and a.moves order by {_IN_ORDER} limit 1
) f on u.moves
where u.moves or not {HAS_ENTERED} order by u.member_id, u.journey, u.key on conflict do nothing
""")
# Who takes entries has time to decide them until they are due again, and locks nothing meanwhile.
_TAKE: Final = Statement(f"""
update journey_entry_aside a set due_at = :until
from (
    select member_id, journey, key, moves from journey_entry_aside l
    where journey = :journey and moves = :moves and due_at <= :now and not (moves and exists(
        select from journey_entry_aside b where b.member_id = l.member_id and b.journey = l.journey and b.moves
            and (b.set_aside_at, b.at, b.key) < (l.set_aside_at, l.at, l.key)
    ))
    order by due_at limit :most for update skip locked
) t
where a.member_id = t.member_id and a.journey = t.journey and a.key = t.key and a.moves = t.moves
returning {columns(Late, "a")}
""")
_WITH_DUE: Final = Statement("""
select j.journey from unnest(:journeys::text[]) j (journey)
where exists(
    select from journey_entry_aside a where a.journey = j.journey and a.due_at <= :now and a.moves = :moves
)
""")
_DELETE: Final = Statement(f"""
delete from journey_entry_aside a using {unnested(_Key)}
where a.member_id = u.member_id and a.journey = u.journey and a.key = u.key and a.moves = u.moves
""")
_AGAIN: Final = Statement(f"""
update journey_entry_aside a set tries = u.tries, due_at = u.due_at, fault = u.fault, version = u.version
from {unnested(Late, **_TYPES)}
where a.member_id = u.member_id and a.journey = u.journey and a.key = u.key and a.moves = u.moves
""")
_WITH_THE_FIRST: Final = Statement(f"""
update journey_entry_aside a set due_at = u.due_at from {unnested(_Due, due_at="timestamptz")}
where a.member_id = u.member_id and a.journey = u.journey and a.moves
""")


_NEWEST: Final = 20  # that are told of a member
_OF_MEMBER: Final = Statement(f"""
select {columns(Undecided)} from journey_entry_aside where member_id = :member_id and journey = :journey
order by at desc, key limit {_NEWEST}
""")


async def keep_late(connection: Connection, late: Iterable[Late]) -> None:
    """These are late from now on."""
    if rows := [_storable(each) for each in late]:
        await connection.execute(*_KEEP(**arrays(Late, rows)))


async def journeys_with_late(
    connection: Connection, journeys: Sequence[str], now: datetime, *, moves: bool = False
) -> list[str]:
    """The journeys, among these, with entries that are due, or with events that move members."""
    if not journeys:
        return []
    rows = await connection.fetch(*_WITH_DUE(journeys=list(journeys), now=now, moves=moves))
    return [row[0] for row in rows]


async def take_late(
    connection: Connection, journey: str, now: datetime, meanwhile: timedelta, most: int, *, moves: bool = False
) -> list[Late]:
    """Entries that are due, or the first event of each member whom it moves; nobody else takes them in the meantime."""
    taken = _TAKE(journey=journey, now=now, until=now + meanwhile, most=most, moves=moves)
    return [Late(*row) for row in await connection.fetch(*taken)]


async def end_late(connection: Connection, done: Collection[Late], again: Collection[Late]) -> None:
    """Some are decided, and some are to be tried again, or never."""
    if done:
        keys = [_Key(each.member_id, each.journey, each.key, each.moves) for each in done]
        await connection.execute(*_DELETE(**arrays(_Key, keys)))
    if again:
        await connection.execute(*_AGAIN(**arrays(Late, [_storable(each) for each in again])))
    if first := [_Due(each.member_id, each.journey, each.due_at) for each in again if each.moves]:
        await connection.execute(*_WITH_THE_FIRST(**arrays(_Due, first)))


async def undecided_of(connection: Connection, journey: str, member_id: str) -> list[Undecided]:
    """The newest ones of a member, in the order of their times."""
    rows = await connection.fetch(*_OF_MEMBER(member_id=member_id, journey=journey))
    return [Undecided(*row) for row in reversed(rows)]


def _storable(late: Late) -> Late:
    return late._replace(
        fault=late.fault.replace("\0", "")[:_LONGEST_FAULT], event=_bytes(late.event), context=_bytes(late.context)
    )


def _bytes(text: bytes | str | None) -> bytes | None:
    """Of a column of JSON, which is read as a text."""
    return text.encode() if isinstance(text, str) else text
