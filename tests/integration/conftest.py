"""The house fixture."""

from collections.abc import AsyncIterator

import pytest

from abacus.core.clock import SystemClock
from abacus.examples import example_cards
from abacus.postgres import Pool
from abacus.queues.definition import AWARD, EXPIRY, RETRY, ensure_queues
from abacus.queues.sqs import SqsQueue, sqs_client
from abacus.rates.store import CardStore
from tests.conftest import Services
from tests.integration.house import House, unique_settings
from tests.integration.receiver import Receiver, receiving


@pytest.fixture
async def house(services: Services, database_url: str, pool: Pool) -> House:
    settings = unique_settings(
        database_url=database_url,
        sqs_endpoint_url=services.sqs_endpoint_url,
        kafka_bootstrap=services.kafka_bootstrap,
    )
    async with sqs_client(settings.sqs_endpoint_url) as client:
        await ensure_queues(client, settings.queue_prefix)
        # What a killed worker held comes back sooner than in production, so that tests need not wait half a minute.
        for name in (AWARD, RETRY, EXPIRY):
            queue = await SqsQueue.find(client, settings.queue_prefix + name)
            await client.set_queue_attributes(QueueUrl=queue.url, Attributes={"VisibilityTimeout": "4"})
    store = CardStore(pool)
    for card in example_cards():
        await store.publish(card, by="tests", now=SystemClock().now())
    return House(settings, pool)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as opened:
        yield opened
