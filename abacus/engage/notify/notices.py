"""Notices in Postgres: entered once for each event, and gathered into messages.

A notice waits a few seconds for others of its member. Then all of them become one message, written in the transaction
that marks them as told: from there on the message has its id, whatever happens to whoever sends it.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final, NamedTuple

import structlog
from pydantic import ValidationError

from abacus.core.clock import Clock
from abacus.engage.notify.decide.message import ChannelName, Message, message_of
from abacus.engage.notify.decide.notice import Notice
from abacus.engage.notify.decide.part import PART, PARTS
from abacus.engage.notify.templates import DEFAULT_LOCALE
from abacus.platform.postgres import Connection, Pool, passing_failures

_MEMBERS: Final = 1000
_AT_ONCE: Final = 20_000  # notices, however many a member has after an outage
_LATER: Final = timedelta(minutes=5)

_ENTER: Final = """
insert into notice (member_id, event_id, happened_at, seq, part, due_at)
select u.*, $6
from unnest($1::text[], $2::text[], $3::timestamptz[], $4::bigint[], $5::json[])
    as u (member_id, event_id, happened_at, seq, part)
order by u.member_id, u.event_id
on conflict do nothing
"""

# One worker gathers at a time: two would tear a member's notices into two messages.
_ALONE: Final = "select pg_try_advisory_xact_lock(hashtext('abacus notices'))"

# Of each member whose first notice is due all that there is, also what came a moment ago.
_DUE: Final = f"""
with due as materialized (
    select distinct member_id from (
        select member_id from notice where told_at is null and due_at <= $1 order by due_at limit {_MEMBERS}
    ) as first
)
select n.member_id, n.event_id, n.happened_at, n.seq, n.part, p.locale, p.channels
from due join notice n on n.member_id = due.member_id and n.told_at is null
left join notification_preference p on p.member_id = due.member_id
order by n.member_id, n.happened_at, n.seq
limit {_AT_ONCE}
"""

_TELL: Final = """
insert into notification (member_id, message_id, channel, locale, parts, created_at, due_at)
select u.*, $6, $6
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::json[])
    as u (member_id, message_id, channel, locale, parts)
on conflict do nothing
"""

_TOLD: Final = """
update notice n set told_at = $3
from unnest($1::text[], $2::text[]) as u (member_id, event_id)
where n.member_id = u.member_id and n.event_id = u.event_id
"""


_POSTPONE: Final = """
update notice n set due_at = $3
from unnest($1::text[], $2::text[]) as u (member_id, event_id)
where n.member_id = u.member_id and n.event_id = u.event_id
"""

log = structlog.get_logger(__name__)


class Gathered(NamedTuple):
    """How many notices became how many messages, counted over all channels."""

    notices: int
    messages: int


class Notices:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def enter(self, notices: Sequence[Notice], *, gathered_for: timedelta) -> int:
        """How many of them are new. What was entered before stays as it is."""
        if not notices:
            return 0
        due_at = self._clock.now() + gathered_for
        columns = (
            [notice.member_id for notice in notices],
            [notice.event_id for notice in notices],
            [notice.happened_at for notice in notices],
            [notice.seq for notice in notices],
            [PART.dump_json(notice.part) for notice in notices],
        )
        async with passing_failures():
            return int((await self._pool.execute(_ENTER, *columns, due_at)).rpartition(" ")[2])

    async def gather(self, channels: Collection[ChannelName]) -> Gathered:
        """Make messages of what is due, for those of the channels that the member wants."""
        now = self._clock.now()
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            if not await connection.fetchval(_ALONE):
                return Gathered(0, 0)
            rows = await connection.fetch(_DUE, now)
            return await _tell(connection, rows, channels, now) if rows else Gathered(0, 0)


async def _tell(
    connection: Connection, rows: Sequence[Any], channels: Collection[ChannelName], now: datetime
) -> Gathered:
    told: list[tuple[str, str, str, str, bytes]] = []
    notices: list[Notice] = []
    for _, group in groupby(rows, key=lambda row: row["member_id"]):
        of_member = list(group)
        readable = [notice for row in of_member if (notice := _notice(row)) is not None]
        if readable:
            wanted = of_member[0]["channels"]
            locale = of_member[0]["locale"] or DEFAULT_LOCALE
            chosen = [each for each in channels if wanted is None or each in wanted]
            told += _rows_of(message_of(readable), locale, chosen)
            notices += readable
    if told:
        await connection.execute(_TELL, *map(list, zip(*told, strict=True)), now)
    await connection.execute(_TOLD, *_keys([(each.member_id, each.event_id) for each in notices]), now)
    if len(notices) < len(rows):
        left = {(row["member_id"], row["event_id"]) for row in rows} - {(n.member_id, n.event_id) for n in notices}
        log.warning("notices of a newer version are left to it", notices=len(left))
        await connection.execute(_POSTPONE, *_keys(sorted(left)), now + _LATER)
    return Gathered(len(notices), len(told))


def _keys(keys: Sequence[tuple[str, str]]) -> tuple[list[str], list[str]]:
    return [member_id for member_id, _ in keys], [event_id for _, event_id in keys]


def _rows_of(message: Message, locale: str, channels: Sequence[ChannelName]) -> list[tuple[str, str, str, str, bytes]]:
    parts = PARTS.dump_json(list(message.parts))
    return [(message.member_id, message.message_id, channel, locale, parts) for channel in channels]


def _notice(row: Any) -> Notice | None:
    """Nothing for one that this version cannot read: while versions change, it must not hold up the others."""
    try:
        part = PART.validate_json(row["part"])
    except ValidationError:
        return None
    return Notice(row["member_id"], row["event_id"], row["happened_at"], row["seq"], part)
