"""The rows of seats, in the slice of their member. Callers hold a transaction there; locks are taken in one order.

An erasure gives seats another key, so it waits for every lock here. Who only wants no seat to be erased holds its key,
and waits for nobody who moves members.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from abacus.engage.journeys.decide.packs import Pack
from abacus.engage.journeys.decide.seat import Entry, Leaves, Moved, Seat
from abacus.engage.journeys.held_rows import Held, held_among
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, array, arrays, column, columns, text_arrays, text_columns, unnested


class Visit(NamedTuple):
    """An earlier or present visit of a member."""

    member_id: str
    journey: str
    visit: int
    key: str
    value: str | None
    entered_at: datetime
    left_at: datetime | None


class Stay(NamedTuple):
    """A visit with its end, and with when its goal was reached."""

    seat: Seat
    left_at: datetime | None
    why: str | None
    converted_at: datetime | None


# Whether a member may come in, by the last visit, by the visits that go on, and by the visit with the key of the entry.
MayEnter: TypeAlias = Callable[[Entry, Sequence[Visit]], bool]


class _Place(NamedTuple):
    member_id: str
    journey: str


class _Asked(NamedTuple):
    """Visits of a member to a journey that are looked at for an entry."""

    member_id: str
    journey: str
    key: str
    most: int


class _Since(NamedTuple):
    """Visits of a member to a journey that began at a time, or later."""

    member_id: str
    journey: str
    since: datetime


class _Key(NamedTuple):
    member_id: str
    journey: str
    visit: int


class _Written(NamedTuple):
    """What is written of a seat after a move."""

    member_id: str
    journey: str
    visit: int
    node: int | None
    turn: int | None
    arm: str | None
    since: datetime
    why: str | None


class _Converted(NamedTuple):
    """A visit that is converted."""

    member_id: str
    journey: str
    visit: int
    at: datetime


# Whether the member of a row called `u` has entered its journey under the row's key. Visits are read in their order, as
# below.
HAS_ENTERED: Final = """(
    select true from seat e where e.member_id = u.member_id and e.journey = u.journey and e.key = u.key
    order by e.visit limit 1
) is not null"""

_NUMBERS: Final = {"visit": "integer", "member": "integer", "version": "integer", "node": "integer", "turn": "integer"}
_JSON: Final = {"context": "json", "event": "json"}

# What the rule asks of earlier visits: the last one, the visits that go on, and the visit that has the key. Of who has
# been inside as often as it may, the last one says it. Visits are read in their order, which leads each read along the
# key: before there are statistics, the way through all seats of a journey looks as short.
_VISITS: Final = Statement(f"""
select {columns(Visit, "s")} from {unnested(_Asked, most="integer")} cross join lateral (
    select visit from seat l where l.member_id = u.member_id and l.journey = u.journey order by l.visit desc limit 1
) last
cross join lateral (
    select {columns(Visit, "b")} from seat b where b.member_id = u.member_id and b.journey = u.journey
        and b.visit >= case when last.visit < u.most then 1 else last.visit end
        and (b.left_at is null or b.key = u.key or b.visit = last.visit)
    order by b.visit
) s
order by s.member_id, s.journey, s.visit
""")
_ENTER: Final = Statement(f"""
insert into seat ({columns(Seat)}) select u.* from {unnested(Seat, **_NUMBERS, **_JSON)} order by u.member_id, u.journey
on conflict do nothing returning member_id, journey
""")
_OF_PACKS: Final = f"""
select {columns(Seat, "s")}
from unnest({array("members", "integer")}, {array("visits", "integer")}) as u (member, visit)
join seat s on s.journey = :journey and s.member = u.member and s.visit = u.visit
where s.left_at is null
"""
_IN_ORDER: Final = "order by s.journey, s.member, s.visit for no key update of s"
_READ: Final = Statement(_OF_PACKS)
_LOCK: Final = Statement(f"{_OF_PACKS} {_IN_ORDER}")
_LOCK_MEMBERS: Final = Statement(f"""
select {columns(Seat, "s")} from unnest(:members::text[]) as u (member_id)
join seat s on s.member_id = u.member_id and s.journey = :journey
where s.left_at is null {_IN_ORDER}
""")
# Also of who has left. Of an erased member a seat is there under a pseudonym, and nothing is done for it.
_HOLD: Final = Statement(f"""
select {columns(Seat, "s")}
from unnest({array("members", "integer")}, {array("visits", "integer")}) as u (member, visit)
join seat s on s.journey = :journey and s.member = u.member and s.visit = u.visit
where s.member_id not like 'erased-%' order by s.journey, s.member, s.visit for key share of s
""")
_LOCK_ALL: Final = Statement("""
select from seat where member_id = :member_id order by journey, member, visit for update
""")
_LOCK_KEYS: Final = Statement(f"""
select {columns(_Key, "s")} from unnest({text_arrays(_Key)}) as u ({columns(_Key)})
join seat s on s.member_id = u.member_id and s.journey = u.journey and s.visit = u.visit
where s.left_at is null {_IN_ORDER}
""")
_STAYS: Final = Statement(f"""
select {columns(Seat)}, left_at, why as reason, converted_at from seat
where member_id = :member_id and journey = :journey order by left_at is not null, visit desc limit :most
""")
# Also of who has left. Visits begin in their order: from the newest one back to the first that began too early.
_UNCONVERTED: Final = Statement(f"""
select {columns(Seat, "s")} from {unnested(_Since)} left join lateral (
    select visit from seat e where e.member_id = u.member_id and e.journey = u.journey and e.entered_at < u.since
    order by e.visit desc limit 1
) earlier on true
cross join lateral (
    select {columns(Seat, "b")} from seat b where b.member_id = u.member_id and b.journey = u.journey
        and b.visit > coalesce(earlier.visit, 0) and b.converted_at is null
    order by b.visit
) s
order by s.member_id, s.journey, s.visit
""")
_LOCK_REACHED: Final = Statement(f"""
select from unnest({text_arrays(_Key)}) as u ({columns(_Key)})
join seat s on s.member_id = u.member_id and s.journey = u.journey and s.visit = u.visit {_IN_ORDER}
""")
_CONVERT: Final = Statement(f"""
update seat s set converted_at = u.at from {unnested(_Converted, visit="integer")}
where s.member_id = u.member_id and s.journey = u.journey and s.visit = u.visit and s.converted_at is null
returning {columns(Seat, "s")}
""")
_WRITE: Final = Statement(f"""
update seat s set node = u.node, turn = u.turn, arm = u.arm, since = u.since, why = u.why,
    left_at = case when u.why is not null then :now::timestamptz end
from unnest({text_arrays(_Written)}) as u ({columns(_Written)})
where s.member_id = u.member_id and s.journey = u.journey and s.visit = u.visit
""")
_MIGRATE: Final = Statement(f"""
update seat s set version = :version, node = u.node, turn = u.turn, arm = u.arm, since = u.since
from unnest({text_arrays(_Written)}) as u ({columns(_Written)})
where s.member_id = u.member_id and s.journey = u.journey and s.visit = u.visit
""")


async def enter(connection: Connection, entries: Iterable[Entry], may_enter: MayEnter, now: datetime) -> list[Seat]:
    """The seats of members who come in now: those whose entry was not done before, and who may. Members who come in by
    two transactions at once are looked at again by the second. Raises `Held` for members who are inside.
    """
    left, seats = list(entries), list[Seat]()
    while left:
        seats += (given := await _enter(connection, left, may_enter, now)).seats
        left = given.overtaken
    return seats


class _Given(NamedTuple):
    seats: list[Seat]
    overtaken: list[Entry]


async def _enter(connection: Connection, entries: Sequence[Entry], may_enter: MayEnter, now: datetime) -> _Given:
    wanted = list({(each.member_id, each.journey): each for each in reversed(entries)}.values())[::-1]
    before: dict[_Place, list[Visit]] = {}
    places = [_Place(each.member_id, each.journey) for each in wanted]
    asked = [_Asked(each.member_id, each.journey, each.key, each.at_most) for each in wanted]
    for row in await connection.fetch(*_VISITS(**arrays(_Asked, asked))):
        visit = Visit(*row)
        before.setdefault(_Place(visit.member_id, visit.journey), []).append(visit)
    await _refuse_held(connection, wanted, before)
    seats, entering = list[Seat](), dict[_Place, Entry]()
    for place, entry in zip(places, wanted, strict=True):
        visits = before.get(place, [])
        if all(each.key != entry.key for each in visits) and may_enter(entry, visits):
            seats.append(_seat(entry, visits[-1].visit + 1 if visits else 1, now))
            entering[place] = entry
    rows = await connection.fetch(*_ENTER(**arrays(Seat, seats))) if seats else []
    there = {_Place(*row) for row in rows}
    second = [each for each in entries if each not in wanted]
    return _Given(
        [each for each in seats if _Place(each.member_id, each.journey) in there],
        [*(entry for place, entry in entering.items() if place not in there), *second],
    )


async def _refuse_held(
    connection: Connection, entries: Sequence[Entry], before: Mapping[_Place, Sequence[Visit]]
) -> None:
    """Who may come in after leaving does so behind what moves it. Raises `Held`."""
    inside: dict[str, dict[str, Entry]] = {}
    for each in entries:
        visits = before.get(_Place(each.member_id, each.journey), ())
        may_be = bool(visits) and visits[-1].visit < each.at_most and all(visit.key != each.key for visit in visits)
        if may_be and any(visit.left_at is None for visit in visits):
            inside.setdefault(each.journey, {})[each.member_id] = each
    for journey, there in inside.items():
        if held := await held_among(connection, journey, there):
            raise Held((each, there[each].key) for each in held)


def _seat(entry: Entry, visit: int, now: datetime) -> Seat:
    return Seat(
        member_id=entry.member_id,
        journey=entry.journey,
        visit=visit,
        member=entry.member,
        version=entry.version,
        key=entry.key,
        country=entry.country,
        entered_at=now,
        node=None,
        turn=None,
        arm=None,
        since=now,
        value=entry.value,
        context=entry.context,
        event=entry.event,
    )


async def seats_of(connection: Connection, packs: Sequence[Pack], *, lock: bool) -> dict[tuple[int, int], Seat]:
    """The seats of members who are inside, by number and visit. Packs are of one journey."""
    statement = (_LOCK if lock else _READ)(
        journey=packs[0].journey,
        members=column(member for each in packs for member in each.members),
        visits=column(visit for each in packs for visit in each.visits),
    )
    seats = [_read(row) for row in await connection.fetch(*statement)]
    return {(each.member, each.visit): each for each in seats}


async def hold_seats(
    connection: Connection, journey: str, places: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], Seat]:
    """The seats of these members and visits in a journey, by number and visit, also of who has left. An erasure of the
    members waits until the transaction ends.
    """
    members, visits = column(member for member, _ in places), column(visit for _, visit in places)
    seats = [_read(row) for row in await connection.fetch(*_HOLD(journey=journey, members=members, visits=visits))]
    return {(each.member, each.visit): each for each in seats}


async def lock_seats(connection: Connection, journey: str, member_ids: Collection[str]) -> list[Seat]:
    """The seats of these members who are inside."""
    rows = await connection.fetch(*_LOCK_MEMBERS(members=sorted(member_ids), journey=journey))
    return [_read(row) for row in rows]


def _read(row: Sequence[Any]) -> Seat:
    seat = Seat(*row)
    return seat._replace(context=_json(seat.context), event=_json(seat.event))


def _json(text: str | bytes | None) -> bytes | None:
    """Of a column of JSON, which is read as a text."""
    return text.encode() if isinstance(text, str) else text


async def lock_all(connection: Connection, member_id: str) -> None:
    """All seats of a member, also those that it has left: what is done for it meanwhile is waited for, and nothing more
    is done for it until the transaction ends.
    """
    await connection.execute(*_LOCK_ALL(member_id=member_id))


def is_written(moved: Moved) -> bool:
    """Whether the seat is written after the move: also where a split has sent the member into another arm."""
    seat, then = moved.arrived.seat, moved.then
    return isinstance(then, Leaves) or then.awaits or seat.node is not None or moved.arm != seat.arm


async def still_inside(connection: Connection, moved: Sequence[Moved]) -> list[Moved]:
    """The moves of members who are still inside. Seats are locked where they are written, and where an action names the
    member, which an erasure meanwhile would not find.
    """
    locked = [is_written(each) or bool(each.actions) for each in moved]
    keys = [_key(each.arrived.seat) for each, is_locked in zip(moved, locked, strict=True) if is_locked]
    if not keys:
        return list(moved)
    inside = {_Key(*row) for row in await connection.fetch(*_LOCK_KEYS(**text_columns(_Key, keys)))}
    return [
        each
        for each, is_locked in zip(moved, locked, strict=True)
        if not is_locked or _key(each.arrived.seat) in inside
    ]


async def write_seats(connection: Connection, moved: Iterable[Moved], now: datetime) -> None:
    """The seats are locked."""
    rows = [_written(each, now) for each in moved if is_written(each)]
    if rows:
        await connection.execute(*_WRITE(**text_columns(_Written, rows), now=now))


async def migrate_seats(connection: Connection, moved: Iterable[Moved], version: int, now: datetime) -> None:
    """The seats are locked, and their members wait on at a node of this version."""
    rows = [_written(each, now) for each in moved]
    if rows:
        await connection.execute(*_MIGRATE(**text_columns(_Written, rows), version=version))


def _written(moved: Moved, now: datetime) -> _Written:
    key, then, arm = _key(moved.arrived.seat), moved.then, moved.arm
    if isinstance(then, Leaves):
        return _Written(*key, None, None, arm, now, then.why)
    if then.awaits:
        return _Written(*key, then.node, then.turn, arm, then.since or now, None)
    return _Written(*key, None, None, arm, now, None)


def _key(seat: Seat) -> _Key:
    return _Key(seat.member_id, seat.journey, seat.visit)


async def unconverted(connection: Connection, since: Mapping[tuple[str, str], datetime]) -> Sequence[Seat]:
    """Visits of members, also past ones, whose goal was not reached and that began since a time, by member and
    journey.
    """
    statement = _UNCONVERTED(**arrays(_Since, [_Since(*place, at) for place, at in sorted(since.items())]))
    return [_read(row) for row in await connection.fetch(*statement)]


async def convert(connection: Connection, reached: Sequence[tuple[Seat, datetime]]) -> Sequence[Seat]:
    """Notes when the goal of each visit was reached; the visits of which that was not noted before."""
    rows = [_Converted(*_key(seat), at) for seat, at in reached]
    if not rows:
        return []
    await connection.execute(*_LOCK_REACHED(**text_columns(_Key, [_key(seat) for seat, _ in reached])))
    return [_read(row) for row in await connection.fetch(*_CONVERT(**arrays(_Converted, rows)))]


async def stays_of(connection: Connection, journey: str, member_id: str, most: int) -> list[Stay]:
    """Visits of a member in their order, so many at most: open ones and then the last ones."""
    fields = len(Seat._fields)
    rows = await connection.fetch(*_STAYS(member_id=member_id, journey=journey, most=most))
    return sorted((Stay(_read(row[:fields]), *row[fields:]) for row in rows), key=lambda each: each.seat.visit)
