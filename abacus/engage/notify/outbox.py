"""Notifications of one channel in Postgres, sent at the channel's pace: all workers take turns from one row, in all
slices.
"""

from collections.abc import Sequence
from datetime import datetime, time
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from abacus.core.clock import Clock
from abacus.core.local_clock import QuietHours
from abacus.engage.notify.decide.message import ChannelName
from abacus.platform.delivery.outbox import FAILING_SINCE, Lane, Outbox, OutboxTable, Taken
from abacus.platform.delivery.types import Lease, Room, Settled
from abacus.platform.pace.decide.pace import Pace
from abacus.platform.postgres import Pool


class Notification(NamedTuple):
    """A notification that this process has taken, and the moment at which the channel's pace lets it start. `parts` is
    the news of the message as JSON. `quiet_from`, `quiet_until` and `zone` say when its member is left alone.
    """

    member_id: str
    message_id: str
    locale: str
    parts: bytes
    created_at: datetime
    failing_since: datetime | None
    quiet_from: time | None
    quiet_until: time | None
    zone: str | None
    start_at: datetime
    attempts: int
    lease: Lease

    @property
    def id(self) -> str:
        return self.message_id

    @property
    def receiver(self) -> str:
        return self.member_id

    @property
    def may_start_at(self) -> datetime:
        """When it may start: after the quiet hours of its member, if it would start in these."""
        if self.quiet_from is None or self.quiet_until is None or self.zone is None:
            return self.start_at
        return QuietHours(self.quiet_from, self.quiet_until).over_at(self.start_at, ZoneInfo(self.zone))


class _Key(NamedTuple):
    member_id: str
    message_id: str
    channel: ChannelName


TABLE: Final = OutboxTable(
    "notification",
    key=_Key,
    row=(
        *("member_id", "message_id", "locale", "parts", "created_at", "failing_since"),
        *("quiet_from", "quiet_until", "zone"),
    ),
    lane="channel",
    delivered_at="sent_at",
    given_up_at="parked_at",
    reason="last_error",
    settles=FAILING_SINCE,
)


class NotificationOutbox:
    """`Deliveries` of one channel. A message that its receiver will never accept is parked, and so is one too late. A
    message that was held up into its member's quiet hours waits for their end.
    """

    def __init__(self, pool: Pool, clock: Clock, channel: ChannelName, pace: Pace) -> None:
        self._outbox: Outbox[Notification] = Outbox(TABLE, pool, clock)
        self._lanes = [Lane(channel, channel, pace, paced_as=channel)]

    async def take(self, room: Room) -> Sequence[Notification]:
        """Takes due notifications, each with the moment at which it may start. Raises `Unavailable`."""
        taken = await self._outbox.take(room, self._lanes, _notification)
        quiet = [(each, each.may_start_at) for each in taken if each.may_start_at > each.start_at]
        await self._outbox.put_back(quiet)
        return [each for each in taken if each.may_start_at == each.start_at]

    async def settle(self, settled: Sequence[Settled[Notification]]) -> None:
        """Raises `Unavailable`."""
        await self._outbox.settle(settled)


def _notification(taken: Taken) -> Notification:
    return Notification._make((*taken.row, taken.start_at, taken.attempts, taken.lease))
