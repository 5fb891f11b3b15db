"""A house that counts rides: their source, their counters, and ways to send them and to wait until they are counted."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from aiokafka import AIOKafkaProducer

from abacus.documents.store import DocumentStore
from abacus.documents.types import documents
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.kind import COUNTERS, held_sources
from abacus.signals.counters.store.cassandra.session import Session
from abacus.signals.events.decide.source import Source
from abacus.signals.events.kind import SOURCES, Reserved
from tests.signals.counters.rides import Ride, Sums, drafts, rides_source, stored_sums, tallies
from tests.signals.counters.stored import sums_in_cassandra
from tests.support.house import House, until


@dataclass(frozen=True)
class CountingHouse:
    """A house with the published source of rides, and a session with the Cassandra that has its counters, if it has
    them there.
    """

    house: House
    source: Source
    cassandra: Session | None = None

    @property
    def topic(self) -> str:
        return self.source.topic or ""

    async def publish(self, *counters: Mapping[str, Any], ago: timedelta = timedelta(0)) -> list[Definition]:
        store = DocumentStore(self.house.pool, COUNTERS)
        given = drafts(self.source, counters)
        return documents(await store.publish(given, held_sources(()), by="tests", now=datetime.now(UTC) - ago))

    async def send(self, sent: Iterable[Ride | bytes]) -> None:
        """A member's rides go to one partition, in their order."""
        async with AIOKafkaProducer(bootstrap_servers=self.house.settings.kafka_bootstrap) as producer:
            await asyncio.gather(
                *[
                    await producer.send(self.topic, each, key=b"bad")
                    if isinstance(each, bytes)
                    else await producer.send(self.topic, each.body, key=b"%d" % each.member)
                    for each in sent
                ]
            )

    async def sums(self) -> Sums:
        """The sums over all writers, as the store in use has them."""
        if self.cassandra is None:
            return await stored_sums(self.house.pool)
        return await sums_in_cassandra(self.cassandra, self.house.settings.cassandra_keyspace)

    async def seen(self, count: int) -> None:
        """Returns when so many events are counted, or were looked at and not counted."""

        async def all_seen() -> bool:
            return (await tallies(self.house.pool)).seen >= count

        await until(all_seen)

    async def counted(self, count: int) -> None:
        """Returns when so many events are counted."""

        async def all_counted() -> bool:
            return (await tallies(self.house.pool)).counted >= count

        await until(all_counted)

    async def begun(self, definition: Definition, partitions: int) -> None:
        """Returns when the definition has begun in so many partitions, of any topic."""

        async def has_begun() -> bool:
            count = "select count(*) from counter_start where definition_id = $1 and definition_version = $2"
            found: int = await self.house.pool.fetchval(count, definition.id, definition.version)
            return found >= partitions

        await until(has_begun)


async def counting_house(house: House, *, substream: bool = False, cassandra: Session | None = None) -> CountingHouse:
    source = rides_source(f"{house.settings.queue_prefix}rides", substream=substream)
    (published,) = await DocumentStore(house.pool, SOURCES).publish(
        [source], Reserved((), house.settings.events_topic).look, by="tests", now=datetime.now(UTC)
    )
    return CountingHouse(house, published.document, cassandra)


def mixed(sent: Sequence[Ride | bytes], every: int, others: Sequence[Ride | bytes]) -> list[Ride | bytes]:
    """The rides, with one of the others behind each so many."""
    mixed: list[Ride | bytes] = []
    for number, each in enumerate(sent):
        mixed.append(each)
        if number % every == every - 1:
            mixed.append(others[number // every % len(others)])
    return mixed
