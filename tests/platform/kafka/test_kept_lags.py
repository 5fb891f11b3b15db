"""What a group has not read is asked for on connections that are kept."""

import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest
from aiokafka import AIOKafkaProducer

from abacus.core.errors import Refused, Unavailable
from abacus.platform.kafka.groups import KeptLags, Lags, open_lags
from tests.support.services import Services


class Counted(Lags):
    """Lags on real connections, which fail when the test says so."""

    def __init__(self, lags: Lags, broker: "Broker") -> None:
        self._lags = lags
        self._broker = broker

    async def unread(self, topic: str, group: str) -> Mapping[int, int]:
        if self._broker.is_away:
            raise Unavailable("Kafka", "away")
        return await self._lags.unread(topic, group)


class Broker:
    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self.is_away = False
        self.opened = 0
        self.closed = 0

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Lags]:
        self.opened += 1
        async with open_lags(self.bootstrap) as lags:
            yield Counted(lags, self)
        self.closed += 1


async def test_connections_are_opened_once_and_anew_after_a_failure(services: Services) -> None:
    topic, broker = f"kept.{uuid.uuid4().hex[:8]}", Broker(services.kafka_bootstrap)
    lags = KeptLags(broker.open)
    async with AIOKafkaProducer(bootstrap_servers=services.kafka_bootstrap) as producer:
        await producer.send_and_wait(topic, b"1", partition=0)
        assert (await lags.unread(topic, "journeyer"))[0] == 1
        await producer.send_and_wait(topic, b"2", partition=0)
    assert (await lags.unread(topic, "journeyer"))[0] == 2
    with pytest.raises(Refused):  # it says nothing of the connections
        await lags.unread(f"{topic}.none", "journeyer")
    assert (broker.opened, broker.closed) == (1, 0)
    broker.is_away = True
    with pytest.raises(Unavailable):
        await lags.unread(topic, "journeyer")
    broker.is_away = False
    assert (await lags.unread(topic, "journeyer"))[0] == 2
    await lags.close()
    assert (broker.opened, broker.closed) == (2, 2)
