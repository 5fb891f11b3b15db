"""The promises of `Publisher`, on Kafka and in memory."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, Protocol

import pytest
from aiokafka import AIOKafkaConsumer, ConsumerRecord

from abacus.platform.following.row_publisher import Publisher
from abacus.platform.kafka.publisher import CLOUD_EVENT, StreamMessage, StreamPublisher
from tests.support.memory_log import MemoryLog, MemoryPublisher, Stored
from tests.support.services import Services

TOPIC: Final = "contract.publisher"
KEYS: Final = [b"bob", b"jane", "jäne".encode(), b"", b"\x00\xff", *(b"member %d" % number for number in range(20))]

Kept = Stored | ConsumerRecord[Any, Any]


class OpenPublisher(Publisher, Protocol):
    """A publisher, and the messages of its topic: each partition in its order."""

    async def kept(self, topic: str) -> Sequence[Kept]: ...


class OpenMemoryPublisher(MemoryPublisher):
    """Publishes into a log in memory."""

    async def kept(self, topic: str) -> Sequence[Kept]:
        return self._log.messages(topic)


class OpenStreamPublisher(StreamPublisher):
    """Publishes to a broker; a reader of no group looks into it."""

    async def kept(self, topic: str) -> Sequence[Kept]:
        messages: list[Kept] = []
        async with (
            asyncio.timeout(30),
            AIOKafkaConsumer(topic, bootstrap_servers=self._bootstrap, auto_offset_reset="earliest") as consumer,
        ):
            ends = await consumer.end_offsets(consumer.assignment())
            while len(messages) < sum(ends.values()):
                polled = await consumer.getmany(timeout_ms=200)
                messages += [each for records in polled.values() for each in records]
        return messages


@pytest.fixture
async def stream_publisher(services: Services) -> AsyncIterator[OpenPublisher]:
    publisher = OpenStreamPublisher(services.kafka_bootstrap)
    yield publisher
    await publisher.close()


@pytest.fixture(params=["memory", "stream_publisher"])
def publisher(request: pytest.FixtureRequest) -> OpenPublisher:
    if request.param == "memory":
        return OpenMemoryPublisher(MemoryLog())
    fixture: OpenPublisher = request.getfixturevalue(request.param)
    return fixture


@pytest.fixture
def topic() -> str:
    return f"{TOPIC}.{uuid.uuid4().hex[:8]}"


def of_each_key(count: int, *, size: int = 0) -> list[StreamMessage]:
    """So many messages of each key, numbered, the keys taking turns."""
    return [StreamMessage(key, b"%d".ljust(size) % number) for number in range(count) for key in KEYS]


async def test_a_publisher_that_connects_again_goes_on(publisher: OpenPublisher, topic: str) -> None:
    await publisher.publish(topic, [StreamMessage(b"bob", b"1")])
    await publisher.connect()
    await publisher.connect()
    await publisher.publish(topic, [StreamMessage(b"bob", b"2")])
    assert [each.value for each in await publisher.kept(topic)] == [b"1", b"2"]


async def test_everything_that_was_published_is_there_unchanged(publisher: OpenPublisher, topic: str) -> None:
    messages = [
        StreamMessage(b"bob", '{"text":"ünï"}'.encode(), CLOUD_EVENT),
        StreamMessage(b"", b"of no key"),
        StreamMessage(b"\x00\xff", b"\xff\x00", (("a", b"\x00"), ("a", b""))),
        StreamMessage(b"nothing", b""),
        StreamMessage(b"", b""),
        StreamMessage(b"more than a batch holds", b"x" * 300 * 1024),
    ]
    await publisher.publish(topic, messages)
    kept = await publisher.kept(topic)
    assert sorted((each.key, each.value, tuple(each.headers)) for each in kept) == sorted(each[:3] for each in messages)


async def test_a_stamp_is_kept(publisher: OpenPublisher, topic: str) -> None:
    await publisher.publish(topic, [StreamMessage(b"bob", b"1", stamp_ms=1_700_000_000_000)])
    assert [each.timestamp for each in await publisher.kept(topic)] == [1_700_000_000_000]


async def test_the_messages_of_a_key_stay_in_order(publisher: OpenPublisher, topic: str) -> None:
    """Also where the messages take several batches, and several calls."""
    messages = of_each_key(10, size=16 * 1024)
    await publisher.publish(topic, messages[:200])
    await publisher.publish(topic, messages[200:])
    kept = await publisher.kept(topic)
    for key in KEYS:
        assert [int(each.value or b"") for each in kept if each.key == key] == list(range(10))


async def test_a_key_stays_in_one_partition(publisher: OpenPublisher, topic: str) -> None:
    for message in of_each_key(2):
        await publisher.publish(topic, [message])
    kept = await publisher.kept(topic)
    assert len({(each.key, each.partition) for each in kept}) == len(KEYS)


async def test_a_partition_counts_its_messages_from_nought(publisher: OpenPublisher, topic: str) -> None:
    await publisher.publish(topic, of_each_key(3))
    kept = await publisher.kept(topic)
    for partition in {each.partition for each in kept}:
        offsets = [each.offset for each in kept if each.partition == partition]
        assert offsets == list(range(len(offsets)))


async def test_the_same_published_again_is_there_again(publisher: OpenPublisher, topic: str) -> None:
    messages = of_each_key(1)
    await publisher.publish(topic, messages)
    await publisher.publish(topic, [*messages, messages[0]])
    kept = await publisher.kept(topic)
    expected = [*messages, *messages, messages[0]]
    assert sorted((each.key, each.value) for each in kept) == sorted((each.key, each.value) for each in expected)


async def test_publishing_nothing_publishes_nothing(publisher: OpenPublisher, topic: str) -> None:
    await publisher.publish(topic, [])
    assert await publisher.kept(topic) == []


async def test_what_is_published_is_compressed(stream_publisher: OpenPublisher, topic: str) -> None:
    """The embedded broker keeps the newest 5 MiB of a partition, and these are 8 MiB."""
    await stream_publisher.publish(topic, [StreamMessage(b"bob", b"many ".ljust(16 * 1024))] * 512)
    assert len(await stream_publisher.kept(topic)) == 512
