"""Notices in Postgres: each event is entered once, and its notices are gathered into messages, in the member's slice.

A notice waits a few seconds for others of its member. Then all of them become one message, in the same transaction that
marks them as told. The message keeps its id from there on, also when the worker that sends it dies.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby
from typing import Any, Final, NamedTuple

import structlog
from pydantic import ValidationError

from abacus.core.clock import Clock
from abacus.engage.notify.decide.message import ChannelName, Message, message_of
from abacus.engage.notify.decide.news import NEWS_JSON, NEWS_LIST_JSON
from abacus.engage.notify.decide.notice import Notice
from abacus.engage.notify.decide.template import DEFAULT_LOCALE
from abacus.platform import slices
from abacus.platform.postgres import Connection, Pool, rows_changed
from abacus.platform.sql import Statement, arrays, columns, unnested

_MEMBERS: Final = 1000
_AT_ONCE: Final = 20_000  # notices in one transaction; a member may have many after an outage
_LATER: Final = timedelta(minutes=5)


class _NewNotice(NamedTuple):
    """A row to insert into `notice`. `part` is its news as JSON."""

    member_id: str
    event_id: str
    happened_at: datetime
    seq: int
    part: bytes


class _Key(NamedTuple):
    """The key of a row of `notice`."""

    member_id: str
    event_id: str


class _DueNotice(NamedTuple):
    """A row of `notice`, with its member's preferences."""

    member_id: str
    event_id: str
    happened_at: datetime
    seq: int
    part: bytes
    locale: str | None
    channels: Sequence[str] | None


class _NewNotification(NamedTuple):
    """A row to insert into `notification`."""

    member_id: str
    message_id: str
    channel: ChannelName
    locale: str
    parts: bytes


_ENTER: Final = Statement(f"""
insert into notice ({columns(_NewNotice)}, due_at)
select u.*, :due_at from {unnested(_NewNotice, part="json")}
order by u.member_id, u.event_id
on conflict do nothing
""")

# One worker gathers in a slice at a time: two would tear a member's notices into two messages. The lock is taken where
# the table is, whichever server is asked.
_ALONE: Final = Statement("""
select pg_try_advisory_xact_lock(hashtext('abacus notices ' || u.place))
from unnest(array[:place]::text[]) as u (place)
where not exists (select from notice where member_id = '' and event_id = '')
""")

_IS_DUE: Final = Statement("select exists(select from notice where told_at is null and due_at <= :now)")

# All notices of each member whose first notice is due, also notices that came a moment ago.
_DUE: Final = Statement(f"""
with due as materialized (
    select distinct member_id from (
        select member_id from notice where told_at is null and due_at <= :now order by due_at limit {_MEMBERS}
    ) as first
)
select {columns(_DueNotice, "each")} from (
    select n.member_id, n.event_id, n.happened_at, n.seq, n.part, p.locale, p.channels
    from due join notice n on n.member_id = due.member_id and n.told_at is null
    left join notification_preference p on p.member_id = due.member_id
) as each
order by member_id, happened_at, seq
limit {_AT_ONCE}
""")

_NOTIFY: Final = Statement(f"""
insert into notification ({columns(_NewNotification)}, created_at, due_at)
select u.*, :now, :now from {unnested(_NewNotification, parts="json")}
on conflict do nothing
""")

_TOLD: Final = Statement(f"""
update notice n set told_at = :now from {unnested(_Key)}
where n.member_id = u.member_id and n.event_id = u.event_id
""")

_POSTPONE: Final = Statement(f"""
update notice n set due_at = :due_at from {unnested(_Key)}
where n.member_id = u.member_id and n.event_id = u.event_id
""")

log = structlog.get_logger(__name__)


class Gathered(NamedTuple):
    """The number of notices that were gathered, and of notifications made of them, over all channels."""

    notices: int
    notifications: int


class Notices:
    """Enters and gathers notices. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def enter(self, notices: Sequence[Notice], *, gathered_for: timedelta) -> int:
        """Enter notices; return how many of them are new. A notice that was entered before stays as it is."""
        entering = partial(self.enter_in, gathered_for=gathered_for)
        return sum((await slices.split(self._pool, notices, entering, patience_s=None)).whole())

    async def enter_beside(self, connection: Connection, notices: Sequence[Notice], *, gathered_for: timedelta) -> None:
        """Enter notices of members of one slice, in the caller's transaction there. A notice that was entered before
        stays as it is.
        """
        await connection.execute(*self._entering(notices, gathered_for))

    async def enter_in(self, slice_: slices.Slice, notices: Sequence[Notice], *, gathered_for: timedelta) -> int:
        """The same of notices of members of one slice."""
        async with slice_.at() as connection:
            return await rows_changed(connection, self._entering(notices, gathered_for))

    def _entering(self, notices: Sequence[Notice], gathered_for: timedelta) -> tuple[Any, ...]:
        return _ENTER(**arrays(_NewNotice, _rows(notices)), due_at=self._clock.now() + gathered_for)

    async def gather(self, number: int, channels: Collection[ChannelName]) -> Gathered:
        """Make messages of the slice's due notices, for each channel that the member wants."""
        now = self._clock.now()
        async with (await slices.slices_of(self._pool))[number].at() as connection:
            if not await connection.fetchval(*_IS_DUE(now=now)):
                return Gathered(0, 0)
            async with slices.in_place(connection):
                return await self._gather(connection, channels, now)

    async def _gather(self, connection: Connection, channels: Collection[ChannelName], now: datetime) -> Gathered:
        if not await connection.fetchval(*_ALONE(place=connection.slice_schema or "whole")):
            return Gathered(0, 0)
        due = [_DueNotice(*row) for row in await connection.fetch(*_DUE(now=now))]
        return await _tell(connection, due, channels, now) if due else Gathered(0, 0)


async def _tell(
    connection: Connection, due: Sequence[_DueNotice], channels: Collection[ChannelName], now: datetime
) -> Gathered:
    notifications: list[_NewNotification] = []
    told: list[_DueNotice] = []
    left: list[_DueNotice] = []
    for _, group in groupby(due, key=lambda each: each.member_id):
        read = [(each, _notice(each)) for each in group]
        readable = [notice for _, notice in read if notice is not None]
        told += [each for each, notice in read if notice is not None]
        left += [each for each, notice in read if notice is None]
        if readable:
            preferences, _ = read[0]
            notifications += _notifications(message_of(readable), preferences, channels)
    if notifications:
        await connection.execute(*_NOTIFY(**arrays(_NewNotification, notifications), now=now))
    await connection.execute(*_TOLD(**arrays(_Key, _keys(told)), now=now))
    if left:
        log.warning("notices of a newer version are left to it", notices=len(left))
        await connection.execute(*_POSTPONE(**arrays(_Key, _keys(left)), due_at=now + _LATER))
    return Gathered(len(told), len(notifications))


def _rows(notices: Iterable[Notice]) -> list[_NewNotice]:
    return [
        _NewNotice(each.member_id, each.event_id, each.happened_at, each.seq, NEWS_JSON.dump_json(each.news))
        for each in notices
    ]


def _keys(notices: Sequence[_DueNotice]) -> list[_Key]:
    return [_Key(notice.member_id, notice.event_id) for notice in notices]


def _notifications(
    message: Message, preferences: _DueNotice, channels: Collection[ChannelName]
) -> list[_NewNotification]:
    """Make one notification for each channel that the member wants."""
    wanted = preferences.channels
    locale = preferences.locale or DEFAULT_LOCALE
    parts = NEWS_LIST_JSON.dump_json(list(message.news))
    return [
        _NewNotification(message.member_id, message.message_id, channel, locale, parts)
        for channel in channels
        if wanted is None or channel in wanted
    ]


def _notice(due: _DueNotice) -> Notice | None:
    """Read a notice; None if this version cannot. While versions change, it must not hold up the others."""
    try:
        news = NEWS_JSON.validate_json(due.part)
    except ValidationError:
        return None
    return Notice(due.member_id, due.event_id, due.happened_at, due.seq, news)
