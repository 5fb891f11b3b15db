"""Parked notifications: listing them, and sending them again when a person says so."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import absent
from abacus.engage.notify.decide.message import ChannelName
from abacus.platform import slices
from abacus.platform.postgres import Also, Pool, nothing_else
from abacus.platform.sql import Statement, columns


class ParkedMessage(NamedTuple):
    """A notification that did not reach its channel, and the reason."""

    member_id: str
    message_id: str
    channel: str
    created_at: datetime
    parked_at: datetime
    attempts: int
    reason: str


_LIST: Final = Statement(f"""
select {columns(ParkedMessage)} from (
    select member_id, message_id, channel, created_at, parked_at, attempts, last_error as reason from notification
    where parked_at is not null and (:channel::text is null or channel = :channel)
) as parked
order by parked_at, member_id, message_id, channel limit :most
""")

_RESEND: Final = Statement("""
update notification set parked_at = null, failing_since = null, attempts = 0, due_at = :now
where parked_at is not null and (:channel::text is null or channel = :channel)
    and (cardinality(:message_ids::text[]) = 0 or message_id = any(:message_ids))
returning message_id
""")


class ParkedMessages:
    """Lists and resends parked notifications. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def list(self, channel: ChannelName | None, limit: int) -> Sequence[ParkedMessage]:
        """The parked messages, the oldest first."""
        rows = await slices.rows(self._pool, _LIST(channel=channel, most=limit))
        parked = [ParkedMessage(*row) for row in rows]
        return sorted(parked, key=lambda each: (each.parked_at, *each[:3]))[:limit]

    async def resend(self, ids: Sequence[str], channel: ChannelName | None, *, also: Also = nothing_else) -> int:
        """Make these messages due now with all their time again, or all messages if no id is given; return how many.

        Raises `Refused` when one of the ids is not parked; no message is changed then.
        """
        statement = _RESEND(channel=channel, message_ids=list(ids), now=self._clock.now())
        async with slices.together(self._pool) as connection:
            resent = [row["message_id"] for row in await slices.rows_on(connection, statement)]
            unknown = sorted(set(ids) - set(resent))
            if unknown:
                raise absent("parked message", unknown[0], "`abacus notify parked` prints all")
            await also(connection)
        return len(resent)
