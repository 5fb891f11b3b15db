"""Publishing changes of tier, read out of the table that the decision wrote them to: at least once, in the order of
each account.
"""

import asyncio
from typing import Final

from abacus.core.clock import Clock
from abacus.ledger.relay.publish import Publisher
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import CLOUD_EVENT, Message
from abacus.platform.metrics import TIERS_BEHIND, TIERS_PUBLISHED
from abacus.platform.patience import unless_stopped, until_available
from abacus.platform.postgres import Pool, passing_failures
from abacus.programs.tiers.decide.events import encode_tier_changed
from abacus.programs.tiers.decide.keeping import Change

_BATCH: Final = 1000
_IDLE_S: Final = 0.2
_DRAIN_S: Final = 5.0  # what is cut off while it is published is published again

_START: Final = ("", "", 0)

# One publishes at a time, or an older change might follow a newer one.
_LEAD: Final = "select pg_try_advisory_xact_lock(hashtext('abacus tiers ' || $1))"

# Whoever decides holds the account, so a change is never seen before the one that came before it.
_NEXT: Final = f"""
select {", ".join(Change._fields)} from tier_change
where published_at is null and (member_id, program, n) > ($1, $2, $3)
order by member_id, program, n
limit {_BATCH}
"""

_PUBLISHED: Final = """
update tier_change c set published_at = $4
from unnest($1::text[], $2::text[], $3::bigint[]) as u (member_id, program, n)
where c.member_id = u.member_id and c.program = u.program and c.n = u.n
"""


class ChangePublisher:
    """Publishes for one topic. Of several, whoever comes first does the next round."""

    def __init__(self, pool: Pool, publisher: Publisher, topic: str, clock: Clock, health: WorkerHealth) -> None:
        self._pool = pool
        self._publisher = publisher
        self._topic = topic
        self._clock = clock
        self._health = health
        self._after = _START  # a round goes through the members and begins anew, so that nobody waits for ever

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set."""
        await unless_stopped(until_available(self._publisher.connect, self._health), stop)
        self._health.ready()
        while not stop.is_set():
            publishing = until_available(self.publish_next, self._health)
            if not await unless_stopped(publishing, stop, grace_s=_DRAIN_S):
                await unless_stopped(asyncio.sleep(_IDLE_S), stop)

    async def publish_next(self) -> int:
        """Publish the next changes, then note that they are. How many there were. Raises `Unavailable`."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            if not await connection.fetchval(_LEAD, self._topic):
                return 0
            rows = await connection.fetch(_NEXT, *self._after)
            if not rows and self._after != _START:
                rows = await connection.fetch(_NEXT, *_START)
            changes = [Change(*row) for row in rows]
            now = self._clock.now()
            oldest = min((change.changed_at for change in changes), default=now)
            TIERS_BEHIND.set((now - oldest).total_seconds())
            if changes:
                await self._publisher.publish(self._topic, [_message(change) for change in changes])
                await connection.execute(
                    _PUBLISHED,
                    [change.member_id for change in changes],
                    [change.program for change in changes],
                    [change.n for change in changes],
                    now,
                )
        last = changes[-1] if changes else None
        self._after = (last.member_id, last.program, last.n) if last else _START
        TIERS_PUBLISHED.inc(len(changes))
        return len(changes)


def _message(change: Change) -> Message:
    return Message(change.member_id.encode(), encode_tier_changed(change), CLOUD_EVENT)
