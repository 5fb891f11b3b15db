"""Publishing seals on the points stream, read out of the table that they were written to: at least once, in order."""

import asyncio
from typing import Final

from abacus.core.clock import Clock
from abacus.ledger.relay.publish import Publisher
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import CLOUD_EVENT, Message
from abacus.platform.patience import unless_stopped, until_available
from abacus.platform.postgres import Pool, passing_failures
from abacus.proof.decide.seal import Seal
from abacus.proof.decide.seal_event import KEY, encode_sealed

_BATCH: Final = 100
_IDLE_S: Final = 2.0  # seals are made daily or hourly
_DRAIN_S: Final = 5.0  # what is cut off while it is published is published again

# One publishes at a time, or an older seal might follow a newer one.
_LEAD: Final = "select pg_try_advisory_xact_lock(hashtext('abacus seals'))"

_NEXT: Final = f"""
select {", ".join(Seal._fields)} from seal where published_at is null order by number limit {_BATCH}
"""

_PUBLISHED: Final = "update seal set published_at = $2 where number = any($1::bigint[])"


class SealPublisher:
    """Publishes for one topic. Of several, whoever comes first does the next round."""

    def __init__(self, pool: Pool, publisher: Publisher, topic: str, clock: Clock, health: WorkerHealth) -> None:
        self._pool = pool
        self._publisher = publisher
        self._topic = topic
        self._clock = clock
        self._health = health

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set."""
        while not stop.is_set():
            publishing = until_available(self.publish_next, self._health)
            if not await unless_stopped(publishing, stop, grace_s=_DRAIN_S):
                self._health.ready()
                await unless_stopped(asyncio.sleep(_IDLE_S), stop)

    async def publish_next(self) -> int:
        """Publish the next seals, then note that they are. How many there were. Raises `Unavailable`."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            if not await connection.fetchval(_LEAD):
                return 0
            seals = [Seal(*row) for row in await connection.fetch(_NEXT)]
            if seals:
                messages = [Message(KEY, encode_sealed(seal), CLOUD_EVENT) for seal in seals]
                await self._publisher.publish(self._topic, messages)
                await connection.execute(_PUBLISHED, [seal.number for seal in seals], self._clock.now())
        return len(seals)
