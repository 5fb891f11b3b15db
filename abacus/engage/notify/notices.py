"""Notices in Postgres: each event is entered once, and its notices are gathered into messages, in the member's slice.

A notice waits a few seconds for others of its member. Then all of them become one message, in the same transaction that
marks them as told. The message keeps its id from there on, also when the worker that sends it dies. What a policy of
contact is against waits, or is never told, and what caps count is counted in that transaction: one worker gathers in a
slice at a time, so no two look at the same count (docs/adr/0121).
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, time, timedelta
from functools import partial
from itertools import groupby
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

import orjson
import structlog
from pydantic import ValidationError

from abacus.core.clock import Clock
from abacus.engage.notify.contact_rows import CountedMessages, counted_messages, keep, told_before
from abacus.engage.notify.decide.contact import (
    NO_POLICIES,
    DueNotice,
    Policies,
    PutOff,
    Stopped,
    Told,
    Untold,
    capped,
    contact,
    none_stopped,
    rest_of,
)
from abacus.engage.notify.decide.message import ChannelName, message_of
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
    priority: int


class _Key(NamedTuple):
    """The key of a row of `notice`."""

    member_id: str
    event_id: str


class _DueNotice(NamedTuple):
    """A row of `notice`, with its member's preferences. `owed` has the channels over which it waits, where it was told
    over others before.
    """

    member_id: str
    event_id: str
    happened_at: datetime
    seq: int
    part: bytes
    priority: int
    owed: Sequence[str] | None
    locale: str | None
    channels: Sequence[str] | None
    zone: str | None


class _NewNotification(NamedTuple):
    """A row to insert into `notification`."""

    member_id: str
    message_id: str
    channel: ChannelName
    locale: str
    parts: bytes
    quiet_from: time | None
    quiet_until: time | None
    zone: str | None


class _PutOff(NamedTuple):
    """A notice that waits: until when, for what, and over which channels, as JSON."""

    member_id: str
    event_id: str
    due_at: datetime
    waits_for: str
    owed: bytes


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
    select n.member_id, n.event_id, n.happened_at, n.seq, n.part, n.priority, n.owed, p.locale, p.channels, p.zone
    from due join notice n on n.member_id = due.member_id and n.told_at is null
    left join notification_preference p on p.member_id = due.member_id
) as each
order by member_id, happened_at, seq
limit {_AT_ONCE}
""")

_NOTIFY: Final = Statement(f"""
insert into notification ({columns(_NewNotification)}, created_at, due_at)
select u.*, :now, :now from {unnested(_NewNotification, parts="json", quiet_from="time", quiet_until="time")}
on conflict do nothing
""")

_TOLD: Final = Statement(f"""
update notice n set told_at = :now, waits_for = null from {unnested(_Key)}
where n.member_id = u.member_id and n.event_id = u.event_id
""")

_POSTPONE: Final = Statement(f"""
update notice n set due_at = :due_at from {unnested(_Key)}
where n.member_id = u.member_id and n.event_id = u.event_id
""")

_PUT_OFF: Final = Statement(f"""
update notice n set due_at = u.due_at, waits_for = u.waits_for,
    owed = array(select json_array_elements_text(u.owed))
from {unnested(_PutOff, owed="json")}
where n.member_id = u.member_id and n.event_id = u.event_id
""")

log = structlog.get_logger(__name__)


class Gathered(NamedTuple):
    """The number of notices that were gathered, and of notifications made of them, over all channels; and what policies
    of contact were against.
    """

    notices: int
    notifications: int
    put_off: Sequence[PutOff] = ()
    untold: Sequence[Untold] = ()


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

    async def gather(
        self,
        number: int,
        channels: Collection[ChannelName],
        policies: Policies = NO_POLICIES,
        stopped: Stopped = none_stopped,
    ) -> Gathered:
        """Make messages of the slice's due notices, for each channel that the member wants, as policies allow it. News
        that is stopped is never told.
        """
        now = self._clock.now()
        async with (await slices.slices_of(self._pool))[number].at() as connection:
            if not await connection.fetchval(*_IS_DUE(now=now)):
                return Gathered(0, 0)
            async with slices.in_place(connection):
                return await self._gather(connection, channels, policies, stopped, now)

    async def _gather(
        self,
        connection: Connection,
        channels: Collection[ChannelName],
        policies: Policies,
        stopped: Stopped,
        now: datetime,
    ) -> Gathered:
        if not await connection.fetchval(*_ALONE(place=connection.slice_schema or "whole")):
            return Gathered(0, 0)
        due = [_DueNotice(*row) for row in await connection.fetch(*_DUE(now=now))]
        if not due:
            return Gathered(0, 0)
        told = await told_before(connection, {each.member_id for each in due}, now) if capped(policies) else {}
        gathering = _Gathering(channels, policies, stopped, now)
        for member_id, group in groupby(due, key=lambda each: each.member_id):
            gathering.add(list(group), told.get(member_id, {}))
        await gathering.write(connection)
        return gathering.gathered()


class _Gathering:
    """What becomes of the due notices of many members, written together."""

    def __init__(self, channels: Collection[ChannelName], policies: Policies, stopped: Stopped, now: datetime) -> None:
        self._channels = channels
        self._policies = policies
        self._stopped = stopped
        self._now = now
        self._notifications: list[_NewNotification] = []
        self._gathered: list[_Key] = []
        self._unreadable: list[_Key] = []
        self._put_off: list[PutOff] = []
        self._untold: list[Untold] = []
        self._counted: list[CountedMessages] = []

    def add(self, due: Sequence[_DueNotice], told: Told) -> None:
        """The due notices of a member, and what caps have counted before."""
        first, zone = due[0], None if due[0].zone is None else ZoneInfo(due[0].zone)
        read = [(each, _notice(each)) for each in due]
        self._unreadable += [_key(each) for each, notice in read if notice is None]
        readable = [DueNotice(notice, self._over(each)) for each, notice in read if notice is not None]
        found = contact(readable, self._policies, told, zone, self._now, stopped=self._stopped)
        waiting = {each.notice.event_id for each in found.put_off}
        self._gathered += [_Key(*each.notice[:2]) for each in readable if each.notice.event_id not in waiting]
        self._put_off += found.put_off
        self._untold += found.untold
        self._counted += counted_messages(first.member_id, found.counted)
        for channel in self._channels:
            if notices := found.told.get(channel):
                self._notifications.append(self._notification(notices, channel, first.locale, zone))

    async def write(self, connection: Connection) -> None:
        """Everything in the transaction of the connection."""
        if self._notifications:
            await connection.execute(*_NOTIFY(**arrays(_NewNotification, self._notifications), now=self._now))
        await connection.execute(*_TOLD(**arrays(_Key, self._gathered), now=self._now))
        if self._put_off:
            await connection.execute(*_PUT_OFF(**arrays(_PutOff, _waits(self._put_off))))
        await keep(connection, self._counted, self._untold, self._now)
        if self._unreadable:
            log.warning("notices of a newer version are left to it", notices=len(self._unreadable))
            await connection.execute(*_POSTPONE(**arrays(_Key, self._unreadable), due_at=self._now + _LATER))

    def gathered(self) -> Gathered:
        return Gathered(len(self._gathered), len(self._notifications), self._put_off, self._untold)

    def _over(self, due: _DueNotice) -> list[ChannelName]:
        """The channels over which a notice is to be told: those that the member wants, and that are owed still."""
        return [
            each
            for each in self._channels
            if (due.channels is None or each in due.channels) and (due.owed is None or each in due.owed)
        ]

    def _notification(
        self, notices: Sequence[Notice], channel: ChannelName, locale: str | None, zone: ZoneInfo | None
    ) -> _NewNotification:
        message, rest = message_of(notices), rest_of(notices, self._policies, zone)
        return _NewNotification(
            message.member_id,
            message.message_id,
            channel,
            locale or DEFAULT_LOCALE,
            NEWS_LIST_JSON.dump_json(list(message.news)),
            *((None, None, None) if rest is None else (rest.hours.begins, rest.hours.ends, rest.zone.key)),
        )


def _rows(notices: Iterable[Notice]) -> list[_NewNotice]:
    return [
        _NewNotice(
            each.member_id, each.event_id, each.happened_at, each.seq, NEWS_JSON.dump_json(each.news), each.priority
        )
        for each in notices
    ]


def _key(due: _DueNotice) -> _Key:
    return _Key(due.member_id, due.event_id)


def _waits(put_off: Sequence[PutOff]) -> list[_PutOff]:
    """One row for each notice, which may wait over several channels: until the first of them has room."""
    rows: list[_PutOff] = []
    for (member_id, event_id), group in groupby(put_off, key=lambda each: each.notice[:2]):
        waiting = list(group)
        first = min(waiting, key=lambda each: each.until)
        owed = orjson.dumps([channel for each in waiting for channel in each.channels])
        rows.append(_PutOff(member_id, event_id, first.until, first.cause, owed))
    return rows


def _notice(due: _DueNotice) -> Notice | None:
    """Read a notice; None if this version cannot. While versions change, it must not hold up the others."""
    try:
        news = NEWS_JSON.validate_json(due.part)
    except ValidationError:
        return None
    return Notice(due.member_id, due.event_id, due.happened_at, due.seq, news, due.priority)
