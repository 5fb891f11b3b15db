"""Reading the batches of any sender."""

import asyncio
import uuid
from collections.abc import Sequence

import pytest
from confluent_kafka import Producer

from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import Record, StreamReader
from tests.support.services import Services

BODIES = [b'{"number": %d, "of": "%s"}' % (number, b"many" * 50) for number in range(50)]


@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4", "zstd"])
async def test_senders_compress_as_they_please(services: Services, compression: str) -> None:
    """One such batch would otherwise hold up its partition for ever."""
    topic = f"compressed.{uuid.uuid4().hex[:8]}"
    producer = Producer(
        {"bootstrap.servers": services.kafka_bootstrap, "compression.type": compression, "linger.ms": 50}
    )
    for body in BODIES:
        producer.produce(topic, value=body, partition=0)
    assert await asyncio.to_thread(producer.flush, 30) == 0
    stop, read = asyncio.Event(), list[bytes]()

    async def handle(records: Sequence[Record]) -> None:
        read.extend(record.value for record in records)
        if len(read) >= len(BODIES):
            stop.set()

    reader = StreamReader(services.kafka_bootstrap, topic, f"{topic}.readers", WorkerHealth("reader"))
    await asyncio.wait_for(reader.run(handle, stop), 60)
    assert read == BODIES
