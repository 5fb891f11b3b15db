"""The notifications that are still to be sent over each channel, and removing old ones."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from abacus.engage.notify.decide.message import ChannelName
from abacus.platform import slices
from abacus.platform.delivery.types import Backlog
from abacus.platform.postgres import Pool, rows_changed
from abacus.platform.sql import Statement

_WAITING: Final = Statement("""
select channel, count(*) as waiting, min(created_at) as oldest from notification
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
        """The backlog of each channel, including the channels for which nothing waits, without slices whose servers
        are away.
        """
        rows = await slices.rows_in_reach(self._pool, _WAITING())
        return {channel: _backlog([row for row in rows if row["channel"] == channel]) for channel in ChannelName}

    async def prune(self, number: int, before: datetime) -> int:
        """Remove notifications of the slice that were sent before a time, in small steps; return how many. Parked ones
        stay for a person.
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
