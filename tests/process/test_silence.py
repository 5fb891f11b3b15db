"""A server of slices that has gone silent, with all its connections open: members of other servers do not notice."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from itertools import count
from time import monotonic

import pytest
from aiokafka import AIOKafkaConsumer

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.platform.postgres import open_pool
from abacus.platform.slices import SliceMap
from abacus.platform.sqs.queue import Client
from abacus.pricing.store.cards import CardStore
from tests.support.births import Nursery
from tests.support.dispersed import SLICES, Dispersed, dispersed
from tests.support.house import House, completed, unique_settings, until
from tests.support.logged import card_logged
from tests.support.outcomes import verified
from tests.support.queues import quick_queues
from tests.support.services import Services

MEMBERS = 80
A_SECOND = 100  # transactions, by the clock
SLICE_MAP = SliceMap(SLICES)


@pytest.fixture
async def spread(services: Services) -> AsyncIterator[Dispersed]:
    async with dispersed(services, servers=3) as opened:
        yield opened


@pytest.fixture
async def spread_house(services: Services, spread: Dispersed, queues: Client, nursery: Nursery) -> AsyncIterator[House]:
    settings = unique_settings(
        database_url=spread.database_url,
        sqs_endpoint_url=services.sqs_endpoint_url,
        kafka_bootstrap=services.kafka_bootstrap,
    )
    await quick_queues(queues, settings.queue_prefix)
    pool = await open_pool(spread.database_url, size=4, keeps_nothing=True)
    for card in example_cards():
        await CardStore(pool).publish(card, by="tests", now=SystemClock().now(), also=card_logged(card))
    yield House(settings, pool, nursery)
    await pool.close()


class Passing:
    """Transactions that are produced, and point events that are published, by slice."""

    def __init__(self, house: House) -> None:
        self._house = house
        self.produced = 0
        self.published: Counter[int] = Counter()

    @asynccontextmanager
    async def going(self) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(each) for each in (self._produce(), self._hear())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    async def _produce(self) -> None:
        began = monotonic()
        for tenth in count(1):
            some = range(self.produced, self.produced + A_SECOND // 10)
            await asyncio.shield(
                self._house.produce(completed(number, member_id=f"m{number % MEMBERS}") for number in some)
            )
            self.produced = some.stop
            await asyncio.sleep(max(0.0, began + tenth / 10 - monotonic()))

    async def _hear(self) -> None:
        settings = self._house.settings
        consumer = AIOKafkaConsumer(
            settings.points_topic, bootstrap_servers=settings.kafka_bootstrap, auto_offset_reset="earliest"
        )
        await consumer.start()
        try:
            async for message in consumer:
                self.published[SLICE_MAP.slice_of(json.loads(message.value)["subject"])] += 1
        finally:
            await consumer.stop()

    async def rate(self, slices: Collection[int], over_s: float) -> float:
        """Point events of these slices in a second."""
        before, began = sum(self.published[number] for number in slices), monotonic()
        await asyncio.sleep(over_s)
        return (sum(self.published[number] for number in slices) - before) / (monotonic() - began)


@pytest.mark.long
async def test_others_go_on_while_a_server_is_silent_and_all_is_posted_after(
    spread: Dispersed, spread_house: House
) -> None:
    silent = next(iter(spread.servers))
    others = [number for number in range(SLICES) if number not in spread.servers[silent]]
    passing = Passing(spread_house)
    async with spread_house.running():
        async with passing.going():
            await until(lambda: _heard_of(passing, range(SLICES)))
            await until(lambda: _warm(passing))
            before = await passing.rate(others, 4)
            silent.silence()
            # On a machine that does much else, some seconds may pass before the members notice. A house that waits for
            # the silent server never gets there: it stays silent until the others have gone on.
            await until(lambda: _as_fast(passing, others, 0.5 * before))
            silent.speak()
        await until(lambda: _posted(spread_house, passing.produced))
    assert await verified(spread_house)


async def _as_fast(passing: Passing, slices: Collection[int], least: float) -> bool:
    return await passing.rate(slices, 3) >= least


async def _heard_of(passing: Passing, slices: Collection[int]) -> bool:
    return all(passing.published[number] for number in slices)


async def _warm(passing: Passing) -> bool:
    return passing.published.total() > 4 * A_SECOND


async def _posted(house: House, transfers: int) -> bool:
    return await house.transfers() >= transfers
