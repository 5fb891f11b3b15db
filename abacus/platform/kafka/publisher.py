"""Publishing in compressed batches: in order for each key, acknowledged by every in-sync replica."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError
from aiokafka.partitioner import DefaultPartitioner
from aiokafka.producer.message_accumulator import BatchBuilder

from abacus.core.errors import Unavailable

DEPENDENCY: Final = "Kafka"

# The header that the CloudEvents binding for Kafka demands of an event in structured form.
CLOUD_EVENT: Final = (("content-type", b"application/cloudevents+json; charset=utf-8"),)

_CONNECT_WITHIN_S: Final = 10.0
PUBLISH_WITHIN_S: Final = 20.0
_CLOSE_WITHIN_S: Final = 2.0


class StreamMessage(NamedTuple):
    """A message to publish; its key decides its partition. `stamp_ms` is the millisecond since 1970 that is stamped on
    it; the default is the time of publishing.
    """

    key: bytes
    value: bytes
    headers: tuple[tuple[str, bytes], ...] = ()
    stamp_ms: int | None = None


class StreamPublisher:
    """An idempotent producer. After a failure it is closed and opened anew, because its state is then unknown."""

    def __init__(
        self,
        bootstrap: str,
        *,
        connect_within_s: float = _CONNECT_WITHIN_S,
        publish_within_s: float = PUBLISH_WITHIN_S,
    ) -> None:
        self._bootstrap = bootstrap
        self._connect_within_s = connect_within_s
        self._publish_within_s = publish_within_s
        self._producer: AIOKafkaProducer | None = None
        self._partition_of = DefaultPartitioner()

    async def publish(self, topic: str, messages: Sequence[StreamMessage]) -> None:
        """Returns when the broker has every message. Raises `Unavailable` when that is unknown: publish all again."""
        async with self._within(self._publish_within_s):
            producer = await self._started()
            partitions = sorted(await producer.partitions_for(topic))
            by_partition: dict[int, list[StreamMessage]] = {}
            for message in messages:
                partition = self._partition_of(message.key, partitions, partitions)
                by_partition.setdefault(partition, []).append(message)
            await asyncio.gather(*(self._send(producer, topic, p, held) for p, held in by_partition.items()))

    async def connect(self) -> None:
        """Returns when the broker answers. Raises `Unavailable`."""
        async with self._within(self._connect_within_s):
            await self._started()

    async def close(self) -> None:
        """Closes the producer. Messages without an acknowledgement are given up; no publisher was told that the broker
        has them.
        """
        producer, self._producer = self._producer, None
        if producer is None:
            return
        try:
            await asyncio.wait_for(producer.stop(), _CLOSE_WITHIN_S)
        except TimeoutError:  # an idempotent producer would flush for ever to a broker that is gone
            await producer._sender.close()  # noqa: SLF001  # there is no public way to give up
            await producer.client.close()

    @asynccontextmanager
    async def _within(self, seconds: float) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(seconds):
                yield
        except (KafkaError, OSError, TimeoutError) as error:
            await self.close()
            detail = " ".join(str(error).split()) or f"no answer within {seconds:.0f} s"
            raise Unavailable(DEPENDENCY, detail) from error

    async def _started(self) -> AIOKafkaProducer:
        if self._producer is None:
            producer = AIOKafkaProducer(
                bootstrap_servers=self._bootstrap,
                enable_idempotence=True,
                acks="all",
                max_batch_size=256 * 1024,
                compression_type="zstd",  # a batch in which it saves nothing goes as it is
                request_timeout_ms=15_000,
                metadata_max_age_ms=30_000,
            )
            try:
                await producer.start()
            except BaseException:
                await producer.stop()
                raise
            self._producer = producer
        return self._producer

    async def _send(
        self, producer: AIOKafkaProducer, topic: str, partition: int, messages: Sequence[StreamMessage]
    ) -> None:
        sent = []
        batch = producer.create_batch()
        for message in messages:
            if not _append(batch, message):
                sent.append(await producer.send_batch(batch, topic, partition=partition))
                batch = producer.create_batch()
                _append(batch, message)
        sent.append(await producer.send_batch(batch, topic, partition=partition))
        for acknowledged in sent:
            await acknowledged


def _append(batch: BatchBuilder, message: StreamMessage) -> bool:
    """Whether there was room for it."""
    appended = batch.append(
        key=message.key, value=message.value, timestamp=message.stamp_ms, headers=list(message.headers)
    )
    return appended is not None
