"""Publishing seals on the points stream, out of the table that they were written to."""

from collections.abc import Sequence
from typing import Final

from abacus.core.clock import Clock
from abacus.platform.following.leader import Leader
from abacus.platform.following.row_publisher import Batch, Publisher, RowPublisher
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import CLOUD_EVENT, StreamMessage
from abacus.platform.postgres import Connection, Pool
from abacus.platform.sql import Statement, columns
from abacus.proof.decide.seal import Seal
from abacus.proof.decide.seal_event import KEY, encode_sealed

_BATCH: Final = 100
_IDLE_S: Final = 2.0  # seals are made daily or hourly
_LEASE: Final = "abacus seals"

_NEXT: Final = Statement(f"select {columns(Seal)} from seal where published_at is null order by number limit {_BATCH}")
_PUBLISHED: Final = Statement("update seal set published_at = :now where number = any(:numbers::bigint[])")


class UnpublishedSeals:
    """A batch is marked by the numbers of its seals."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def next(self, connection: Connection) -> Batch[Sequence[int]] | None:
        seals = [Seal(*row) for row in await connection.fetch(*_NEXT())]
        if not seals:
            return None
        messages = [StreamMessage(KEY, encode_sealed(seal), CLOUD_EVENT) for seal in seals]
        return Batch(messages, seals[0].sealed_at, [seal.number for seal in seals])

    async def published(self, connection: Connection, mark: Sequence[int]) -> None:
        await connection.execute(*_PUBLISHED(numbers=mark, now=self._clock.now()))


def seal_publisher(pool: Pool, publisher: Publisher, topic: str, clock: Clock, health: WorkerHealth) -> Leader:
    """Publishes for one topic. One publishes at a time, or an older seal might follow a newer one."""
    publishing = RowPublisher(UnpublishedSeals(clock), publisher, topic, clock)
    return publishing.led(pool, _LEASE, health, idle_s=_IDLE_S)
