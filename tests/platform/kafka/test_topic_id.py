"""The id that a broker gives a topic. What needs a real broker to delete topics is in tests/signals/counters."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.client import AIOKafkaClient

from abacus.core.errors import Unavailable
from abacus.platform.kafka.offsets import partitions_of
from abacus.platform.kafka.topic_id import TopicIds
from tests.support.services import Services


@pytest.fixture
async def ids(services: Services) -> AsyncIterator[TopicIds]:
    opened = TopicIds(services.kafka_bootstrap)
    yield opened
    await opened.close()


async def test_a_topic_has_an_id_of_its_own(services: Services, ids: TopicIds) -> None:
    names = [f"ids.{uuid.uuid4().hex[:8]}" for _ in range(2)]
    async with AIOKafkaProducer(bootstrap_servers=services.kafka_bootstrap) as producer:
        for name in names:
            await producer.send_and_wait(name, b"{}")
    found = [await ids.of(name) for name in [*names, names[0]]]
    assert None not in found
    assert found[0] == found[2] != found[1]


async def test_asking_for_a_topic_does_not_create_it(services: Services, ids: TopicIds) -> None:
    name = f"ids.{uuid.uuid4().hex[:8]}"
    assert await ids.of(name) is None
    assert await partitions_of(services.kafka_bootstrap, name) == []


async def test_those_who_ask_at_once_share_the_connections(ids: TopicIds, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[AIOKafkaClient] = []
    bootstrap: Callable[[AIOKafkaClient], Awaitable[None]] = AIOKafkaClient.bootstrap

    async def noted(client: AIOKafkaClient) -> None:
        opened.append(client)
        await bootstrap(client)

    monkeypatch.setattr(AIOKafkaClient, "bootstrap", noted)
    assert await asyncio.gather(*(ids.of(f"ids.{uuid.uuid4().hex[:8]}") for _ in range(3))) == [None] * 3
    assert len(opened) == 1


async def test_a_broker_that_is_away_is_asked_again(services: Services) -> None:
    ids = TopicIds("127.0.0.1:1")
    for _ in range(2):
        with pytest.raises(Unavailable):
            await ids.of("any")
    await ids.close()
