"""The notifications that are still to be sent over each channel, and removing old ones."""

from datetime import datetime
from typing import Final

from abacus.engage.notify.decide.message import ChannelName
from abacus.platform.delivery.types import Backlog
from abacus.platform.postgres import Pool, passing_failures, rows_changed
from abacus.platform.sql import Statement

_WAITING: Final = Statement("""
select channel, count(*), min(created_at) from notification
where sent_at is null and parked_at is null group by channel
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
)


class Notifications:
    """Looks at the notifications of all channels. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def waiting(self) -> dict[ChannelName, Backlog]:
        """The backlog of each channel, including the channels for which nothing waits."""
        async with passing_failures():
            rows = await self._pool.fetch(*_WAITING())
        waiting = {channel: Backlog(count, oldest) for channel, count, oldest in rows}
        return {channel: waiting.get(channel, Backlog(0, None)) for channel in ChannelName}

    async def prune(self, before: datetime) -> int:
        """Remove notifications that were sent before a time, in small steps; return how many. Parked ones stay for a
        person.
        """
        removed = 0
        async with passing_failures():
            for statement in _PRUNE:
                last = _PRUNED_AT_ONCE
                while last == _PRUNED_AT_ONCE:
                    last = await rows_changed(self._pool, statement(before=before))
                    removed += last
        return removed
