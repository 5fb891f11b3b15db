"""The notifications of a member, sent or not, the backlog of each channel, and removing old ones."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import orjson

from abacus.engage.notify.contact_rows import KEPT_DAYS
from abacus.engage.notify.decide.message import ChannelName
from abacus.platform import slices
from abacus.platform.delivery.types import Backlog
from abacus.platform.postgres import Pool, rows_changed
from abacus.platform.sql import Statement


class MemberMessage(NamedTuple):
    """A message on one channel. `about` names the kinds of its news; `failed` is why it did not arrive yet."""

    message_id: str
    channel: str
    locale: str
    about: Sequence[str]
    created_at: datetime
    sent_at: datetime | None
    parked_at: datetime | None
    failed: str | None


# A message that was put off until the end of its member's quiet hours, and not tried since, holds up nothing.
_WAITING: Final = Statement("""
select channel, count(*) as waiting, min(created_at) as oldest from notification
where sent_at is null and parked_at is null and (attempts > 0 or due_at <= :now) group by channel
""")

_OF_MEMBER: Final = Statement("""
select message_id, channel, locale, parts, created_at, sent_at, parked_at, last_error from notification
where member_id = :member_id order by created_at desc, message_id, channel limit :limit
""")
_PRUNED_AT_ONCE: Final = 5000

_PRUNE: Final = (
    Statement(f"""
    delete from notification where ctid = any(array(
        select ctid from notification where sent_at < :before limit {_PRUNED_AT_ONCE} for update skip locked))
    """),
    Statement(f"""
    delete from notice where ctid = any(array(
        select ctid from notice where told_at < :before limit {_PRUNED_AT_ONCE} for update skip locked))
    """),
    Statement(f"""
    delete from untold_message where ctid = any(array(
        select ctid from untold_message where untold_at < :before limit {_PRUNED_AT_ONCE}))
    """),
    Statement(f"""
    delete from message_count where ctid = any(array(
        select ctid from message_count where day < :before::timestamptz::date - {KEPT_DAYS.days}
        limit {_PRUNED_AT_ONCE}))
    """),
)


class Notifications:
    """Looks at the notifications of all channels. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def waiting(self, now: datetime) -> dict[ChannelName, Backlog]:
        """The backlog of each channel, including the channels for which nothing waits, without slices whose servers
        are away.
        """
        rows = await slices.rows_in_reach(self._pool, _WAITING(now=now))
        return {channel: _backlog([row for row in rows if row["channel"] == channel]) for channel in ChannelName}

    async def prune(self, number: int, before: datetime) -> int:
        """Remove notifications of the slice that were sent before a time, in small steps, with what was not told and
        what caps need no more; return how many. Parked ones stay for a person.
        """
        removed = 0
        async with (await slices.slices_of(self._pool))[number].at() as connection:
            for statement in _PRUNE:
                last = _PRUNED_AT_ONCE
                while last == _PRUNED_AT_ONCE:
                    last = await rows_changed(connection, statement(before=before))
                    removed += last
        return removed


def _backlog(rows: Sequence[Any]) -> Backlog:
    return Backlog(sum(row["waiting"] for row in rows), min((row["oldest"] for row in rows), default=None))


async def messages_of(pool: Pool, member_id: str, limit: int) -> Sequence[MemberMessage]:
    """The newest first. Raises `Unavailable`."""
    async with slices.at(pool, member_id) as connection:
        rows = await connection.fetch(*_OF_MEMBER(member_id=member_id, limit=limit))
    return [MemberMessage(*row)._replace(about=_kinds(row[3])) for row in rows]


def _kinds(parts: bytes) -> list[str]:
    return list(dict.fromkeys(str(each.get("kind", "")) for each in orjson.loads(parts)))
