"""Publishes rows of the database on a topic: in order, at least once. Rows are marked as published after the broker has
all of them, so a process that dies in between publishes them again, under the same ids.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Generic, NamedTuple, Protocol, TypeVar

from prometheus_client import Counter, Gauge

from abacus.core.clock import Clock
from abacus.platform.following.leader import Leader
from abacus.platform.following.lease_share import Share
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.postgres import Connection, Pool

Mark = TypeVar("Mark")


class Publisher(Protocol):
    """The broker that messages are published to."""

    async def connect(self) -> None:
        """Returns when the broker answers. Raises `Unavailable`."""
        ...

    async def publish(self, topic: str, messages: Sequence[StreamMessage]) -> None:
        """Returns when all messages are durable. Raises `Unavailable` when some may not be."""
        ...


class Batch(NamedTuple, Generic[Mark]):
    """The next rows as messages, the time since which the oldest waits, and the mark for `published`."""

    messages: Sequence[StreamMessage]
    since: datetime
    mark: Mark


class Source(Protocol[Mark]):
    """The rows of one kind, in the order of publishing."""

    async def next(self, connection: Connection) -> Batch[Mark] | None:
        """The next batch; None when all rows are published. Raises `Unavailable`."""
        ...

    async def published(self, connection: Connection, mark: Mark) -> None:
        """Marks the rows of a batch as published: the broker has all its messages."""
        ...


class Meter(NamedTuple):
    """Counts published messages, and the seconds that the oldest of the last batch had waited."""

    published: Counter
    behind: Gauge


class RowPublisher(Generic[Mark]):
    """Publishes the rows of a source on one topic."""

    def __init__(
        self, source: Source[Mark], publisher: Publisher, topic: str, clock: Clock, meter: Meter | None = None
    ) -> None:
        self._source = source
        self._publisher = publisher
        self._topic = topic
        self._clock = clock
        self._meter = meter

    async def publish_next(self, connection: Connection) -> int:
        """Publishes the next batch, then marks it, and returns the number of messages. Raises `Unavailable`."""
        batch = await self._source.next(connection)
        if batch is None:
            self.nothing_waits()
            return 0
        if self._meter is not None:
            self._meter.behind.set((self._clock.now() - batch.since).total_seconds())
        await self._publisher.publish(self._topic, batch.messages)
        await self._source.published(connection, batch.mark)
        if self._meter is not None:
            self._meter.published.inc(len(batch.messages))
        return len(batch.messages)

    def nothing_waits(self) -> None:
        """Nothing waits for this process: all is published, or another process publishes."""
        if self._meter is not None:
            self._meter.behind.set(0)

    def led(
        self,
        pool: Pool,
        lease: str,
        health: WorkerHealth,
        *,
        idle_s: float,
        enough: int = 1,
        share: Share | None = None,
    ) -> Leader:
        """The worker: of several with a lease of the same name one publishes, the others stand by. For `enough` and the
        share see `Leader`.
        """
        return Leader(
            pool,
            lease,
            self.publish_next,
            health,
            idle_s=idle_s,
            enough=enough,
            prepare=self._publisher.connect,
            stand_by=self.nothing_waits,
            share=share,
        )
