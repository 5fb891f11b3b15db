"""What the console saw of the house, in Postgres: alarms, and readings of the last hour."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import orjson

from abacus.console.decide.alarms import Alarm, alarm_of, changes_of, followed
from abacus.console.decide.waits import Reading
from abacus.core.status import Cause
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.sql import Statement, columns, parameters

EVERY: Final = timedelta(seconds=30)
_FRESH: Final = 2 * EVERY
_READINGS: Final = timedelta(hours=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class AlarmRow(NamedTuple):
    """A row of `console_alarm`."""

    cause: str
    about: str
    since: datetime | None
    over_at: datetime | None
    details: Sequence[str]
    commands: Sequence[str]


_BEGIN: Final = Statement("insert into console_look (at) values (:at) on conflict (at) do nothing returning true")
_FORGET: Final = Statement("delete from console_look where at < :before")
_END: Final = Statement("update console_look set waits_s = :waits_s where at = :at")
_ENDED: Final = "from console_look where at > :since and at <= :now and waits_s is not null"
_READ: Final = Statement(f"select at, waits_s {_ENDED} order by at")
_IS_FRESH: Final = Statement(f"select exists(select {_ENDED})")

_ALARMS: Final = Statement(f"select {columns(AlarmRow)} from console_alarm order by since, cause, about")
_LOCK: Final = "select pg_advisory_xact_lock(hashtext('console alarms'))"
_WRITE: Final = Statement(f"""
insert into console_alarm ({columns(AlarmRow)}) values ({parameters(AlarmRow)})
on conflict (cause, about) do update set since = excluded.since, over_at = excluded.over_at,
    details = excluded.details, commands = excluded.commands
""")
_DELETE: Final = Statement("delete from console_alarm where cause = :cause and about = :about")


class WatchStore:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def begin(self, now: datetime) -> datetime | None:
        """The look of this half minute, unless it was begun before: then another process looks, or has looked."""
        at = now - (now - _EPOCH) % EVERY
        async with passing_failures():
            if not await self._pool.fetchval(*_BEGIN(at=at)):
                return None
            await self._pool.execute(*_FORGET(before=now - _READINGS))
        return at

    async def end(self, at: datetime, waits_s: Mapping[str, float]) -> None:
        """Keeps how long messages waited at this look."""
        async with passing_failures():
            await self._pool.execute(*_END(at=at, waits_s=orjson.dumps(waits_s)))

    async def readings(self, now: datetime) -> Sequence[Reading]:
        """Of the last hour, the oldest first."""
        async with passing_failures():
            rows = await self._pool.fetch(*_READ(since=now - _READINGS, now=now))
        return [Reading(at, orjson.loads(waits_s)) for at, waits_s in rows]

    async def alarms(self) -> Sequence[Alarm]:
        """The alarms that stand, and the alarms that ended of late."""
        async with passing_failures(), self._pool.acquire() as connection:
            return await _known(connection)

    async def fresh_alarms(self, now: datetime) -> Sequence[Alarm] | None:
        """All alarms, if somebody looked at the house a moment ago."""
        async with passing_failures():
            is_fresh = await self._pool.fetchval(*_IS_FRESH(since=now - _FRESH, now=now))
        return await self.alarms() if is_fresh else None

    async def note(self, now_wrong: Sequence[Alarm], unread: AbstractSet[Cause], now: datetime) -> Sequence[Alarm]:
        """The alarms that stand by now, and then the alarms that ended. Rows are written where one rises or ends."""
        known = await self.alarms()
        after = followed(known, now_wrong, unread, now)
        if not any(changes_of(known, after)):
            return after
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(_LOCK)
            known = await _known(connection)
            after = followed(known, now_wrong, unread, now)
            changed, gone = changes_of(known, after)
            await connection.executemany(*_WRITE.rows([_row(each)._asdict() for each in changed]))
            await connection.executemany(*_DELETE.rows([{"cause": each.cause, "about": each.about} for each in gone]))
        return after


async def _known(connection: Connection) -> Sequence[Alarm]:
    """A cause that another version of the console knows is left out."""
    rows = [AlarmRow(*row) for row in await connection.fetch(*_ALARMS())]
    return [
        alarm_of(Cause(each.cause), each.about, each.details, each.commands, since=each.since, over_at=each.over_at)
        for each in rows
        if each.cause in set(Cause)
    ]


def _row(of: Alarm) -> AlarmRow:
    return AlarmRow(of.cause, of.about, of.since, of.over_at, list(of.details), list(of.commands))
