"""Topics as the contract tests see them: filled, and read by the only member of a group."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, Final, Self

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from abacus.platform.following.row_publisher import Publisher
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.kafka.reader import StreamReader

MESSAGES: Final = 40

Record = ConsumerRecord[Any, Any]


class Topic:
    """A topic of this test's own; each filling puts the same messages behind the last."""

    def __init__(self, bootstrap: str, publisher: Publisher, client: Callable[..., Any] | None = None) -> None:
        self.name = f"contract.consumer.{uuid.uuid4().hex[:8]}"
        self._bootstrap = bootstrap
        self._publisher = publisher
        self._client = client

    async def filled(self) -> Self:
        await self._publisher.publish(self.name, [StreamMessage(b"%d" % number, b"{}") for number in range(MESSAGES)])
        return self

    @asynccontextmanager
    async def joined(self, group: str = "readers") -> AsyncIterator[AIOKafkaConsumer]:
        """The only member of a group, made by the product's reader."""
        made_by = StreamReader(
            self._bootstrap, self.name, f"{self.name}.{group}", WorkerHealth("reader"), client=self._client
        )
        consumer = await made_by._start(asyncio.Lock())  # noqa: SLF001  # the client as the product makes it
        try:
            yield consumer
        finally:
            await consumer.stop()


async def read(consumer: AIOKafkaConsumer, count: int, *, most: int | None = None) -> list[Record]:
    """So many records, with any others that came together with the last of them."""
    records: list[Record] = []
    async with asyncio.timeout(30):
        while len(records) < count:
            records += await poll(consumer, most)
    return records


async def poll(consumer: AIOKafkaConsumer, most: int | None = None) -> list[Record]:
    polled = await consumer.getmany(timeout_ms=200, max_records=most)
    return [record for records in polled.values() for record in records]


def offsets_of(records: Iterable[Record]) -> dict[TopicPartition, list[int]]:
    """The offsets of each partition, in the order in which they came."""
    offsets: dict[TopicPartition, list[int]] = {}
    for record in records:
        offsets.setdefault(TopicPartition(record.topic, record.partition), []).append(record.offset)
    return offsets
