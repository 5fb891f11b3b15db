"""Notifications of one channel in Postgres, sent at the channel's pace: all workers take turns from one row, in all
slices.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.engage.notify.decide.message import ChannelName
from abacus.platform.delivery.outbox import FAILING_SINCE, Lane, Outbox, OutboxTable, Taken
from abacus.platform.delivery.types import Lease, Room, Settled
from abacus.platform.pace.decide.pace import Pace
from abacus.platform.postgres import Pool


class Notification(NamedTuple):
    """A notification that this process has taken, and the moment at which the channel's pace lets it start. `parts` is
    the news of the message as JSON.
    """

    member_id: str
    message_id: str
    locale: str
    parts: bytes
    created_at: datetime
    failing_since: datetime | None
    start_at: datetime
    attempts: int
    lease: Lease

    @property
    def id(self) -> str:
        return self.message_id

    @property
    def receiver(self) -> str:
        return self.member_id


class _Key(NamedTuple):
    member_id: str
    message_id: str
    channel: ChannelName


TABLE: Final = OutboxTable(
    "notification",
    key=_Key,
    row=("member_id", "message_id", "locale", "parts", "created_at", "failing_since"),
    lane="channel",
    delivered_at="sent_at",
    given_up_at="parked_at",
    reason="last_error",
    settles=FAILING_SINCE,
)


class NotificationOutbox:
    """`Deliveries` of one channel. A message that its receiver will never accept is parked, and so is one too late."""

    def __init__(self, pool: Pool, clock: Clock, channel: ChannelName, pace: Pace) -> None:
        self._outbox: Outbox[Notification] = Outbox(TABLE, pool, clock)
        self._lanes = [Lane(channel, channel, pace, paced_as=channel)]

    async def take(self, room: Room) -> Sequence[Notification]:
        """Takes due notifications, each with the moment at which it may start. Raises `Unavailable`."""
        return await self._outbox.take(room, self._lanes, _notification)

    async def settle(self, settled: Sequence[Settled[Notification]]) -> None:
        """Raises `Unavailable`."""
        await self._outbox.settle(settled)


def _notification(taken: Taken) -> Notification:
    return Notification._make((*taken.row, taken.start_at, taken.attempts, taken.lease))
