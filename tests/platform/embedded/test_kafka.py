"""The broker serves producers and groups, and its limit is where its documentation says."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from abacus.core.errors import Unavailable
from abacus.platform.embedded.stack import EmbeddedKafka

_MIB = 1024 * 1024
_DELAY_OF_THE_LIBRARY_S = 3


@pytest.fixture(scope="module")
async def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    kafka = EmbeddedKafka(tmp_path_factory.mktemp("kafka") / "kafka.log", {"roomy.v1": 32, "narrow.v1": 1})
    try:
        yield await kafka.start()
    finally:
        await kafka.stop()


@pytest.fixture
async def producer(bootstrap: str) -> AsyncIterator[AIOKafkaProducer]:
    made = AIOKafkaProducer(bootstrap_servers=bootstrap, enable_idempotence=True, acks="all")
    await made.start()
    yield made
    await made.stop()


def _consumer(bootstrap: str, *topics: str, group: str) -> AIOKafkaConsumer:
    return AIOKafkaConsumer(
        *topics,
        bootstrap_servers=bootstrap,
        group_id=group,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        session_timeout_ms=6000,
        heartbeat_interval_ms=1000,
    )


async def _read(bootstrap: str, topic: str, count: int) -> list[bytes]:
    consumer = _consumer(bootstrap, topic, group="calculator")
    values: list[bytes] = []
    async with asyncio.timeout(30):
        await consumer.start()
        while len(values) < count:
            records = await consumer.getmany(timeout_ms=1000, max_records=count - len(values))
            values += [record.value or b"" for batch in records.values() for record in batch]
        await consumer.commit()
        await consumer.stop()
    return values


@pytest.mark.long
async def test_a_group_reads_on_where_it_committed(bootstrap: str, producer: AIOKafkaProducer) -> None:
    for n in range(10):
        await producer.send_and_wait("transactions", b"%d" % n, key=b"bob")
    assert await _read(bootstrap, "transactions", count=4) == [b"0", b"1", b"2", b"3"]
    assert await _read(bootstrap, "transactions", count=6) == [b"4", b"5", b"6", b"7", b"8", b"9"]


async def test_the_first_member_of_a_group_starts_at_once(bootstrap: str) -> None:
    """In 0.2 s. The broker's own delay is 3 s for each group, so one quick start shows that there is none."""
    took: list[float] = []
    while not took or (min(took) >= _DELAY_OF_THE_LIBRARY_S and len(took) < 10):
        consumer = _consumer(bootstrap, "transactions", group=f"first-{len(took)}")
        began = time.monotonic()
        await consumer.start()
        took.append(time.monotonic() - began)
        await consumer.stop()
    assert min(took) < _DELAY_OF_THE_LIBRARY_S


@pytest.mark.parametrize(("topic", "partitions"), [("roomy.v1", 32), ("made-by-using-it", 4)])
async def test_topics_have_the_partitions_they_were_given(
    producer: AIOKafkaProducer, topic: str, partitions: int
) -> None:
    assert len(await producer.partitions_for(topic)) == partitions


async def test_a_partition_keeps_its_newest_5_mib(bootstrap: str, producer: AIOKafkaProducer) -> None:
    only = TopicPartition("narrow.v1", 0)
    for _ in range(2000):
        await producer.send("narrow.v1", b"x" * 5000)
    await producer.flush()
    consumer = _consumer(bootstrap, group="reader")
    await consumer.start()
    try:
        first = (await consumer.beginning_offsets([only]))[only]
        end = (await consumer.end_offsets([only]))[only]
    finally:
        await consumer.stop()
    assert end == 2000
    assert 4.9 * _MIB < (end - first) * 5000 < 5 * _MIB


async def test_a_topic_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="there cannot be a topic 'none' with 0 partitions"):
        await EmbeddedKafka(tmp_path / "kafka.log", {"none": 0}).start()
