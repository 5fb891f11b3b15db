"""A house of its own for a run: a database, queues and topics on the real services, and a crew of worker processes."""

import json
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import asyncpg
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from abacus.core.clock import SystemClock
from abacus.migrations import migrate
from abacus.postgres import Pool, open_pool
from abacus.queues.definition import AWARD, EXPIRY, RETRY, ensure_queues
from abacus.queues.sqs import Client, SqsQueue, sqs_client
from abacus.rates.store import CardStore
from abacus.settings import Settings
from benchmarks.pipeline import environment
from tests.chaos.births import Nursery
from tests.chaos.crew import Crew
from tests.chaos.services import Services
from tests.chaos.workload import cards

PARTITIONS: Final = 6
CREW: Final[Mapping[str, int]] = {"calculator": 2, "awarder": 2, "retrier": 1, "relay": 2}
LOGS: Final = Path(__file__).parents[2] / ".abacus" / "chaos"
_QUEUES: Final = (AWARD, RETRY, EXPIRY)
# What a killed worker held comes back sooner than in production, and what takes long is handed out twice.
_VISIBLE_AGAIN_S: Final = 8
_AUDITORS: Final = 4
_READY_WITHIN_S: Final = 180.0


@dataclass(frozen=True)
class House:
    """`settings` lead straight to the services; the crew's may lead through proxies."""

    settings: Settings
    pool: Pool
    client: Client
    crew: Crew
    nursery: Nursery
    logs: Path
    clock: Path | None = None  # what commands go by, where clocks are wrong

    async def command(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        """Run `abacus` with these arguments: the code that it ends with, and the JSON that it prints."""
        out, log = (self.logs / f"{'-'.join(arguments[:2])}.{kind}" for kind in ("json", "log"))
        out.unlink(missing_ok=True)
        process = await self.nursery.born(
            [*arguments, "--json"], environment(self.settings), log=log, out=out, clock=self.clock
        )
        code = await process.ended
        try:
            told: dict[str, Any] = json.loads(out.read_bytes())
        except ValueError:
            told = {"said": log.read_text(encoding="utf-8").strip()}
        return code, told

    async def queue(self, name: str) -> SqsQueue:
        return await SqsQueue.find(self.client, self.settings.queue_prefix + name)


@asynccontextmanager
async def opened_house(
    services: Services, nursery: Nursery, name: str, *, hired: Mapping[str, int] = CREW
) -> AsyncIterator[House]:
    """Everything made ready and the crew hired; afterwards nothing of it is left but the logs."""
    mark = f"chaos_{name.replace('-', '_')}_{uuid4().hex[:6]}"
    settings = Settings(
        database_url=services.database(mark),
        sqs_endpoint_url=services.sqs_endpoint_url,
        kafka_bootstrap=services.kafka_bootstrap,
        queue_prefix=f"{mark}-",
        transactions_topic=f"{mark}.transactions",
        points_topic=f"{mark}.points",
        tiers_topic=f"{mark}.tiers",
    )
    logs = LOGS / name
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(_database(services, mark))
        await stack.enter_async_context(_topics(settings))
        client = await stack.enter_async_context(_queues(settings))
        pool = await open_pool(services.database(mark), size=_AUDITORS, role=None)
        stack.push_async_callback(_closed, pool)
        store = CardStore(pool)
        for card in cards():
            await store.publish(card, by="chaos", now=SystemClock().now())
        crew = await stack.enter_async_context(Crew(nursery, environment(settings), logs))
        for post, count in hired.items():
            for _ in range(count):
                crew.hire(post)
        await crew.ready(_READY_WITHIN_S)
        yield House(settings, pool, client, crew, nursery, logs)


def now() -> datetime:
    return datetime.now(UTC)


async def _closed(pool: Pool) -> None:
    pool.terminate()


@asynccontextmanager
async def _database(services: Services, name: str) -> AsyncIterator[None]:
    await _administer(services, f"create database {name}")
    try:
        await migrate(services.database(name))
        yield
    finally:
        await _administer(services, f"drop database {name} with (force)")


async def _administer(services: Services, statement: str) -> None:
    connection = await asyncpg.connect(services.database_url)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


@asynccontextmanager
async def _topics(settings: Settings) -> AsyncIterator[None]:
    names = (settings.transactions_topic, settings.points_topic, settings.tiers_topic)
    async with kafka_admin(settings) as admin:
        await admin.create_topics([NewTopic(name, PARTITIONS, 1) for name in names])
    try:
        yield
    finally:
        async with kafka_admin(settings) as admin:
            await admin.delete_topics(list(names))


@asynccontextmanager
async def kafka_admin(settings: Settings) -> AsyncIterator[Any]:
    admin = AIOKafkaAdminClient(bootstrap_servers=settings.required("kafka_bootstrap"))
    await admin.start()
    try:
        yield admin
    finally:
        await admin.close()


@asynccontextmanager
async def _queues(settings: Settings) -> AsyncIterator[Client]:
    async with sqs_client(settings.sqs_endpoint_url) as client:
        made = await ensure_queues(client, settings.queue_prefix)
        try:
            for name in _QUEUES:
                queue = await SqsQueue.find(client, settings.queue_prefix + name)
                visible_again = {"VisibilityTimeout": str(_VISIBLE_AGAIN_S)}
                await client.set_queue_attributes(QueueUrl=queue.url, Attributes=visible_again)
            yield client
        finally:
            for name in made:
                await client.delete_queue(QueueUrl=(await SqsQueue.find(client, name)).url)
