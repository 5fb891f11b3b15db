"""Messages in Postgres: taken by one worker at a time and at the channel's pace, kept with what became of them.

Turns are given out from one row for each channel, so the pace holds for all workers together. A worker that dies with
turns in its hand leaves them unused: the channel is slower for a second, never quicker.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from abacus.core.clock import Clock
from abacus.engage.notify.decide.message import ChannelName
from abacus.engage.notify.decide.outcome import Verdict
from abacus.engage.notify.decide.pace import Pace, slots
from abacus.platform.postgres import Pool, passing_failures

LEASE: Final = timedelta(seconds=60)  # longer than any batch takes

_BEGIN_PACE: Final = """
insert into notification_pace (channel, free_at) values ($1, $2) on conflict do nothing
"""
_PACE: Final = "select free_at from notification_pace where channel = $1 for update"
_MOVE_PACE: Final = "update notification_pace set free_at = $2 where channel = $1 and free_at <> $2"

# Being due again later is the lease; the number of attempts says whose it is.
_TAKE: Final = """
with due as materialized (
    select member_id, message_id, due_at from notification
    where channel = $1 and sent_at is null and parked_at is null and due_at <= $2
    order by due_at limit $4 for update skip locked
)
update notification n set due_at = $3, attempts = n.attempts + 1
from due where n.member_id = due.member_id and n.message_id = due.message_id and n.channel = $1
returning n.member_id, n.message_id, n.locale, n.parts, n.created_at, n.attempts, n.failing_since, due.due_at
"""

# What was sent is sent, whoever has it by now. A failure counts only for the one whose turn it was.
_SETTLE: Final = """
update notification n set
    sent_at = case when u.outcome = 'sent' then $2::timestamptz end,
    parked_at = case when u.outcome = 'parked' then $2::timestamptz end,
    failing_since = case when u.outcome <> 'sent' then coalesce(n.failing_since, $2::timestamptz) end,
    due_at = coalesce(u.due_at, n.due_at),
    last_error = u.reason
from unnest($3::text[], $4::text[], $5::int[], $6::text[], $7::timestamptz[], $8::text[])
    as u (member_id, message_id, attempts, outcome, due_at, reason)
where n.member_id = u.member_id and n.message_id = u.message_id and n.channel = $1 and n.sent_at is null
    and (u.outcome = 'sent' or n.attempts = u.attempts)
"""

_WAITING: Final = """
select channel, count(*), min(created_at) from notification
where sent_at is null and parked_at is null group by channel
"""

_PRUNED_AT_ONCE: Final = 5000

_PRUNE: Final = (
    f"""
    delete from notification where ctid = any(array(
        select ctid from notification where sent_at < $1 limit {_PRUNED_AT_ONCE} for update skip locked))
    """,
    f"""
    delete from notice where ctid = any(array(
        select ctid from notice where told_at < $1 limit {_PRUNED_AT_ONCE} for update skip locked))
    """,
)


class Taken(NamedTuple):
    """A message that one worker has taken. `attempts` counts this one too; it may start at `start_at`."""

    member_id: str
    message_id: str
    locale: str
    parts: bytes
    created_at: datetime
    attempts: int
    failing_since: datetime | None
    start_at: datetime


class Waiting(NamedTuple):
    """How much is still to be sent over a channel, and since when the oldest of it waits."""

    messages: int
    oldest: datetime


class Outbox:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock, *, lease: timedelta = LEASE) -> None:
        self._pool = pool
        self._clock = clock
        self._lease = lease

    async def take(self, channel: ChannelName, pace: Pace, *, most: int) -> list[Taken]:
        """What is due, each with the moment at which it may start. Nobody else takes it until the lease is over."""
        now = self._clock.now()
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            free_at = await connection.fetchval(_PACE, channel)
            if free_at is None:
                await connection.execute(_BEGIN_PACE, channel, now)
                free_at = await connection.fetchval(_PACE, channel)
            given = slots(pace.step(now), free_at, now, most)
            rows: Sequence[Any] = []
            if given.turns:
                rows = await connection.fetch(_TAKE, channel, now, now + self._lease, given.turns)
            if rows or given.first_at < free_at:
                await connection.execute(_MOVE_PACE, channel, given.first_at + len(rows) * given.step)
        ordered = sorted(rows, key=lambda row: row["due_at"])
        return [_taken(row, given.first_at + turn * given.step) for turn, row in enumerate(ordered)]

    async def settle(self, channel: ChannelName, settled: Sequence[tuple[Taken, Verdict]]) -> None:
        """Write down what became of messages."""
        columns = (
            [taken.member_id for taken, _ in settled],
            [taken.message_id for taken, _ in settled],
            [taken.attempts for taken, _ in settled],
            [str(verdict.outcome) for _, verdict in settled],
            [verdict.due_at for _, verdict in settled],
            [verdict.reason for _, verdict in settled],
        )
        async with passing_failures():
            await self._pool.execute(_SETTLE, channel, self._clock.now(), *columns)

    async def waiting(self) -> dict[ChannelName, Waiting]:
        async with passing_failures():
            rows = await self._pool.fetch(_WAITING)
        return {ChannelName(channel): Waiting(count, oldest) for channel, count, oldest in rows}

    async def prune(self, before: datetime) -> int:
        """Remove what was told before then, in small steps; how much. What was parked stays until somebody decides."""
        removed = 0
        async with passing_failures():
            for statement in _PRUNE:
                last = _PRUNED_AT_ONCE
                while last == _PRUNED_AT_ONCE:
                    last = int((await self._pool.execute(statement, before)).rpartition(" ")[2])
                    removed += last
        return removed


def _taken(row: Any, start_at: datetime) -> Taken:
    return Taken(
        row["member_id"],
        row["message_id"],
        row["locale"],
        row["parts"],
        row["created_at"],
        row["attempts"],
        row["failing_since"],
        start_at,
    )
