"""The record of new keys: how many each writer may admit on a day, and how many it has admitted.

A writer is granted room before it admits keys, and a process that reads the same events again finds the same room.
What is admitted and refused is recorded with the tally.
"""

from collections.abc import Collection, Mapping
from datetime import date, datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

from abacus.core.clock import Clock
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.sql import Statement, arrays, columns, unnested
from abacus.signals.counters.decide.admission import Day, Room, granted
from abacus.signals.counters.decide.definition import Definition

_FIRST_DAY: Final = date(1970, 1, 1)
_KEPT: Final = timedelta(days=35)  # after the last change

Bounds: TypeAlias = Mapping[tuple[int, int], int]  # of definitions, by id and version


class NewKeys(NamedTuple):
    """A row of `counter_new_keys`."""

    definition_id: int
    definition_version: int
    day: int
    writer: int
    granted: int
    admitted: int
    refused: int
    upto: int
    changed_at: datetime


class _OfDay(NamedTuple):
    definition_id: int
    definition_version: int
    day: int


_INTEGERS: Final = {"definition_id": "integer", "definition_version": "integer", "day": "integer"}

_OF_DAYS: Final = Statement(f"""
select {columns(NewKeys, "n")} from {unnested(_OfDay, **_INTEGERS)}
join counter_new_keys n using (definition_id, definition_version, day)
""")

_BY_DAY: Final = Statement("""
select day, sum(admitted)::bigint, sum(refused)::bigint from counter_new_keys
where definition_id = :definition_id and definition_version = :version group by day order by day desc
""")

_REFUSED: Final = Statement("""
select d.document ->> 'name' || '@' || n.definition_version, n.day, sum(n.admitted)::bigint, sum(n.refused)::bigint
from counter_new_keys n
join counter_definition d on d.definition_id = n.definition_id and d.version = n.definition_version
group by d.document ->> 'name', n.definition_version, n.day having sum(n.refused) > 0
order by n.day desc, d.document ->> 'name', n.definition_version
""")

# Grants of a day wait for each other, so that together they keep within the bound.
_ONE_BY_ONE: Final = Statement("select pg_advisory_xact_lock(hashtext('counter new keys'))")

_GRANT: Final = Statement(f"""
insert into counter_new_keys ({columns(NewKeys)}) select u.* from {unnested(NewKeys, **_INTEGERS)}
on conflict (definition_id, definition_version, day, writer)
do update set granted = excluded.granted, changed_at = excluded.changed_at
""")

_RECORD: Final = Statement(f"""
insert into counter_new_keys ({columns(NewKeys)}) select u.* from {unnested(NewKeys, **_INTEGERS)}
on conflict (definition_id, definition_version, day, writer)
do update set
    admitted = excluded.admitted, refused = excluded.refused, upto = excluded.upto, changed_at = excluded.changed_at
""")

_FORGET: Final = Statement("delete from counter_new_keys where changed_at < :before")


class NewKeysBook:
    """The record in Postgres. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def rooms(self, days: Collection[Day], most: Bounds) -> Mapping[Day, Room]:
        """What is recorded of these days."""
        async with passing_failures(), self._pool.acquire() as connection:
            recorded = await _recorded(connection, days)
        rooms: dict[Day, Room] = {}
        for day in days:
            total = sum(room.granted for other, room in recorded.items() if other[:3] == day[:3])
            rooms[day] = recorded.get(day, Room())._replace(is_last=total >= most[day[:2]])
        return rooms

    async def grant(self, wanted: Mapping[Day, tuple[int, Room]], most: Bounds) -> Mapping[Day, Room]:
        """The rooms, large enough for this number of keys as far as the definitions allow it."""
        keys = {day: count for day, (count, _) in wanted.items()}
        now = self._clock.now()
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_ONE_BY_ONE())
            rooms = granted(keys, await _recorded(connection, keys), most)
            rows = [NewKeys(*day, room.granted, 0, 0, -1, now) for day, room in rooms.items()]
            await connection.execute(*_GRANT(**arrays(NewKeys, rows)))
            await connection.execute(*_FORGET(before=now - _KEPT))
        return {
            day: room._replace(granted=rooms[day].granted, is_last=rooms[day].is_last)
            for day, (_, room) in wanted.items()
        }


class DayOfKeys(NamedTuple):
    """What became of the new keys of a definition on a day, over all writers: how many began to count, and how many
    events were refused because the day had enough.
    """

    day: date
    admitted: int
    refused: int


class RefusedOnDay(NamedTuple):
    """A version of a definition, by its label, that refused keys on a day."""

    counter: str
    of_day: DayOfKeys


async def new_keys_of(pool: Pool, definition: Definition) -> list[DayOfKeys]:
    """The days of the last weeks on which keys were new, the latest first. Raises `Unavailable`."""
    values = {"definition_id": definition.id, "version": definition.version}
    async with passing_failures():
        return [_day_of_keys(*row) for row in await pool.fetch(*_BY_DAY(**values))]


async def refused_keys(pool: Pool) -> list[RefusedOnDay]:
    """Of all definitions, the latest first. Raises `Unavailable`."""
    async with passing_failures():
        rows = await pool.fetch(*_REFUSED())
    return [RefusedOnDay(counter, _day_of_keys(*figures)) for counter, *figures in rows]


def _day_of_keys(day: int, admitted: int, refused: int) -> DayOfKeys:
    return DayOfKeys(_FIRST_DAY + timedelta(days=day), admitted, refused)


def record(rooms: Mapping[Day, Room], uptos: Mapping[int, int], now: datetime) -> tuple[Any, ...]:
    """The statement that records what was admitted and refused up to these offsets of the writers."""
    rows = [
        NewKeys(*day, 0, room.admitted, room.refused, uptos[day.writer], now) for day, room in sorted(rooms.items())
    ]
    return _RECORD(**arrays(NewKeys, rows))


async def _recorded(connection: Connection, days: Collection[Day]) -> dict[Day, Room]:
    """The rooms of all writers on these days."""
    of_days = list(dict.fromkeys(_OfDay(*day[:3]) for day in days))
    rows = [NewKeys(*row) for row in await connection.fetch(*_OF_DAYS(**arrays(_OfDay, of_days)))]
    return {Day(*row[:4]): Room(row.granted, row.admitted, row.refused, row.upto) for row in rows}
