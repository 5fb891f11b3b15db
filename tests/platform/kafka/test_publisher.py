"""The publisher against a broker that takes connections and never answers: bounded in every direction."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from abacus.core.errors import Unavailable
from abacus.platform.kafka.publisher import StreamMessage, StreamPublisher
from tests.support.closing import close_to_new


@pytest.fixture
async def silent_broker() -> AsyncIterator[str]:
    writers: list[asyncio.StreamWriter] = []

    async def taken(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)

    server = await asyncio.start_server(taken, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    yield f"{host}:{port}"
    await close_to_new(server)
    for writer in writers:
        writer.transport.abort()


async def test_connecting_and_publishing_say_that_nobody_answers(silent_broker: str) -> None:
    publisher = StreamPublisher(silent_broker, connect_within_s=0.3, publish_within_s=0.3)
    began = time.monotonic()
    with pytest.raises(Unavailable, match="Kafka unavailable: no answer within"):
        await publisher.connect()
    with pytest.raises(Unavailable, match="Kafka unavailable: no answer within"):
        await publisher.publish("points", [StreamMessage(b"bob", b"{}")])
    await publisher.close()
    assert time.monotonic() - began < 15


async def test_where_nobody_listens_is_said_at_once() -> None:
    publisher = StreamPublisher("127.0.0.1:1")
    with pytest.raises(Unavailable, match="Unable to bootstrap"):
        await publisher.connect()
    await publisher.close()
