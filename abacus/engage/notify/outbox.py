"""Notifications of one channel in Postgres, sent at the channel's pace: all workers take turns from one row, in all
slices.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.engage.notify.decide.message import ChannelName
from abacus.engage.notify.decide.notification import Notification, Turn
from abacus.platform.delivery.outbox import FAILING_SINCE, Lane, Outbox, OutboxTable, Taken
from abacus.platform.delivery.types import Room, Settled
from abacus.platform.pace.decide.pace import Pace
from abacus.platform.postgres import Pool


class _Key(NamedTuple):
    member_id: str
    message_id: str
    channel: ChannelName


TABLE: Final = OutboxTable(
    "notification",
    key=_Key,
    row=Notification._fields,
    lane="channel",
    delivered_at="sent_at",
    given_up_at="parked_at",
    reason="last_error",
    settles=FAILING_SINCE,
)


class NotificationOutbox:
    """`Deliveries` of one channel. A message that its receiver will never accept is parked, and so is one too late."""

    def __init__(self, pool: Pool, clock: Clock, channel: ChannelName, pace: Pace) -> None:
        self._outbox: Outbox[Turn] = Outbox(TABLE, pool, clock)
        self._lanes = [Lane(channel, channel, pace, paced_as=channel)]

    async def take(self, room: Room) -> Sequence[Turn]:
        """Takes due notifications, each with the moment at which it may start. Raises `Unavailable`."""
        return await self._outbox.take(room, self._lanes, _turn)

    async def settle(self, settled: Sequence[Settled[Turn]]) -> None:
        """Raises `Unavailable`."""
        await self._outbox.settle(settled)


def _turn(taken: Taken) -> Turn:
    return Turn(Notification(*taken.row), taken.start_at, taken.attempts, taken.lease)
