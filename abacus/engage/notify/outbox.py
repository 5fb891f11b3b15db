"""Notifications of one channel in Postgres: each is taken by one worker at a time and at the channel's pace.

All workers take turns from one row for each channel, so the pace holds for them together, in all slices. That row is
not cut: a slice's notifications are taken through the coordinator, when there are any; they are settled at its server.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from abacus.core.clock import Clock
from abacus.engage.notify.decide.message import ChannelName
from abacus.engage.notify.decide.notification import Notification, Turn
from abacus.platform.delivery.types import LEASE, DeliveryOutcome, Room, Settled
from abacus.platform.pace.decide.pace import Pace
from abacus.platform.pace.turns import Turns
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.slices.sliced import at_slice, slicing_of
from abacus.platform.sql import Statement, arrays, columns, unnested


class _Settlement(NamedTuple):
    """The result of one attempt, as it is written to its row. `attempts` identifies the claim."""

    member_id: str
    message_id: str
    channel: ChannelName
    attempts: int
    outcome: DeliveryOutcome
    retry_at: datetime | None
    reason: str | None


_DUE: Final = "channel = :channel and sent_at is null and parked_at is null and due_at <= :now"
_IS_DUE: Final = Statement(f"select exists(select from notification where {_DUE})")

# The later due time is the lease; the number of attempts identifies the claim.
_TAKE: Final = Statement(f"""
with due as materialized (
    select member_id, message_id, due_at from notification
    where {_DUE}
    order by due_at limit :most for update skip locked
), taken as (
    update notification n set due_at = :leased_until, attempts = n.attempts + 1
    from due where n.member_id = due.member_id and n.message_id = due.message_id and n.channel = :channel
    returning n.member_id, n.message_id, n.locale, n.parts, n.created_at, n.attempts, n.failing_since, due.due_at
)
select {columns(Notification)} from taken order by due_at
""")

# A failure counts unless another worker has taken the notification by now. Each condition names the settled rows, even
# where it is redundant: for a table that was not analysed the planner expects one row, and would compare all with all.
_SETTLE: Final = Statement(f"""
update notification n set
    sent_at = case when u.outcome = 'delivered' then :now::timestamptz end,
    parked_at = case when u.outcome in ('given_up', 'gone') then :now::timestamptz end,
    failing_since = case when u.outcome <> 'delivered' then coalesce(n.failing_since, :now::timestamptz) end,
    due_at = coalesce(u.retry_at, n.due_at),
    last_error = u.reason
from {unnested(_Settlement)}
where n.member_id = u.member_id and n.message_id = u.message_id and n.channel = u.channel
    and case when n.sent_at is null then u.outcome = 'delivered' or n.attempts = u.attempts end
""")


class Outbox:
    """The notifications of one channel in a slice. Every method raises `Unavailable` while the database is away."""

    def __init__(
        self, pool: Pool, clock: Clock, channel: ChannelName, pace: Pace, number: int = 0, *, lease: timedelta = LEASE
    ) -> None:
        self._pool = pool
        self._clock = clock
        self._number = number
        self._channel = channel
        self._pace = pace
        self._lease = lease

    async def take(self, room: Room) -> Sequence[Turn]:
        """Take due notifications, each with the moment at which it may start."""
        now = self._clock.now()
        async with passing_failures(), at_slice(self._pool, self._number) as connection:
            if not await connection.fetchval(*_IS_DUE(channel=self._channel, now=now)):
                return []
        home = (await slicing_of(self._pool)).home(self._number)
        async with passing_failures(), self._pool.acquire(schema=home) as connection, connection.transaction():
            turns = Turns(connection, self._channel)
            given = await turns.offered(self._pace, now, room.most)
            rows: Sequence[Any] = []
            if given.turns:
                statement = _TAKE(channel=self._channel, now=now, leased_until=now + self._lease, most=given.turns)
                rows = await connection.fetch(*statement)
            await turns.take(given, len(rows))
        return [Turn(Notification(*row), given.first_at + number * given.step) for number, row in enumerate(rows)]

    async def settle(self, settled: Sequence[Settled[Turn]]) -> None:
        """Write the results of attempts. A message that the receiver will never accept is parked, and so is one that
        has failed for too long.
        """
        settlements = [
            _Settlement(
                member_id=turn.notification.member_id,
                message_id=turn.notification.message_id,
                channel=self._channel,
                attempts=turn.attempts,
                outcome=verdict.outcome,
                retry_at=verdict.retry_at,
                reason=verdict.reason,
            )
            for turn, _, verdict in settled
        ]
        statement = _SETTLE(**arrays(_Settlement, settlements), now=self._clock.now())
        async with passing_failures(), at_slice(self._pool, self._number) as connection:
            await connection.execute(*statement)
