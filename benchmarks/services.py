"""The real services of `make services`, with rooms of a measurement's own: a database, queues and topics."""

import asyncio
import signal
import socket
import tempfile
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import psutil
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from abacus.cli.examples import example_cards
from abacus.cli.house.stack import make_ready
from abacus.platform.migrations import cut, migrate
from abacus.platform.postgres import open_pool
from abacus.platform.settings import Settings
from abacus.platform.sqs.queue import sqs_client
from abacus.programs.expiry.decide.month import last_good_day
from benchmarks.accounts import enter_accounts
from localstack.daemon import Daemon, stop
from localstack.running import running_services
from localstack.services import (
    ELASTICMQ_LIGHTLY,
    HOST,
    POSTGRES_OF_A_LEDGER,
    SERVICES,
    Ports,
    Service,
    ready,
    start_elasticmq,
    start_postgres,
    use_elasticmq,
    use_postgres,
)

PARTITIONS: Final = 12
COUNTRIES: Final = tuple(sorted(card.scope for card in example_cards()))

# One account in five is active for the first time in the month: its expiry date moves, and with it an index entry.
_MEMBERS: Final = """
insert into account (member_id, program, country, expires_on)
select 'm' || lpad(n::text, 8, '0'), ($3::text[])[c], ($2::text[])[c], case when n % 5 > 0 then ($4::date[])[c] end
from (select n, 1 + n % cardinality($2::text[]) as c from generate_series(0, $1::int - 1) as n) as member
"""


@asynccontextmanager
async def real_services() -> AsyncIterator[Settings]:
    """The addresses of running services, or of services that are started for the block and stopped again; the queues
    are ours.
    """
    async with running_services() as services, _queues_in_memory() as endpoint_url:
        yield Settings(
            database_url=services.database_url, kafka_bootstrap=services.kafka_bootstrap, sqs_endpoint_url=endpoint_url
        )


@asynccontextmanager
async def postgres_alone(directory: Path, settings: Mapping[str, str] = POSTGRES_OF_A_LEDGER) -> AsyncIterator[str]:
    """The address of a Postgres of our own, as `make services` runs it, and without the other two."""
    daemon, start = Daemon("postgres", directory, signal.SIGINT), partial(start_postgres, tuned=settings)
    async with _own(Service(daemon, ("postgres",), start, use_postgres)) as ports:
        yield ports.database_url


@asynccontextmanager
async def cassandra_alone(directory: Path) -> AsyncIterator[int]:
    """The port of a Cassandra of our own, as `make services` runs it."""
    service = next(service for service in SERVICES if service.daemon.name == "cassandra")
    async with _own(service._replace(daemon=Daemon("cassandra", directory))) as ports:
        yield ports.cassandra


@asynccontextmanager
async def elasticmq_alone() -> AsyncIterator[tuple[str, psutil.Process]]:
    """The address of an ElasticMQ that keeps messages in memory, and its process."""
    with tempfile.TemporaryDirectory(prefix="abacus-bench-") as bench:
        daemon = Daemon("elasticmq", Path(bench), signal.SIGKILL)
        start = partial(start_elasticmq, manners=ELASTICMQ_LIGHTLY)
        async with _own(Service(daemon, ("sqs",), start, use_elasticmq)) as ports:
            process = daemon.process()
            assert process is not None  # noqa: S101  # it is ready
            yield ports.sqs_endpoint_url, process


@asynccontextmanager
async def _queues_in_memory() -> AsyncIterator[str]:
    """An ElasticMQ of our own, which keeps messages in memory. SQS runs on machines of its own; to keep messages on
    the disk of this one, and to check each of their characters, would cost more than the rest of ElasticMQ's work.
    It has nothing to put away at its end, and on SIGTERM it would wait twenty seconds for receivers that are gone.
    """
    async with elasticmq_alone() as (endpoint_url, _):
        yield endpoint_url


@asynccontextmanager
async def _own(service: Service) -> AsyncIterator[Ports]:
    """A service of our own, on free ports, while the block lasts."""
    with ExitStack() as probes:
        ports = Ports(**{name: _free(probes) for name in service.ports})
    service.start(service.daemon, ports)
    try:
        await ready(service, ports)
        yield ports
    finally:
        await asyncio.to_thread(stop, [service.daemon])


def _free(probes: ExitStack) -> int:
    """A port that nobody has while the stack is open."""
    probe = probes.enter_context(socket.socket())
    probe.bind((HOST, 0))
    return int(probe.getsockname()[1])


@asynccontextmanager
async def own_database(services: Settings) -> AsyncIterator[Settings]:
    """A migrated, empty database, which is dropped with the block."""
    async with empty_database(services) as url:
        await migrate(url)
        yield services.model_copy(update={"database_url": url})


@asynccontextmanager
async def empty_database(services: Settings) -> AsyncIterator[str]:
    """The address of a database without any table, which is dropped with the block."""
    name = f"bench_{uuid.uuid4().hex[:8]}"
    await _administer(services, f"create database {name}")
    try:
        yield urlunsplit(urlsplit(services.required("database_url"))._replace(path=f"/{name}"))
    finally:
        await _administer(services, f"drop database {name} with (force)")


@asynccontextmanager
async def rooms(services: Settings, accounts: int, slices: int = 1) -> AsyncIterator[Settings]:
    """A ledger in so many slices with so many accounts, and queues and topics that nobody else uses; all of it is
    removed with the block.
    """
    name = f"bench-{uuid.uuid4().hex[:8]}"
    async with own_database(services) as with_database:
        settings = with_database.model_copy(
            update={
                "queue_prefix": f"{name}-",
                "transactions_topic": f"{name}.transactions",
                "points_topic": f"{name}.points",
                "tiers_topic": f"{name}.tiers",
                "events_topic": f"{name}.events",
            }
        )
        await cut(settings.required("database_url"), slices)
        try:
            await _make_topics(settings)
            await make_ready(settings)
            await _fill(settings, accounts)
            yield settings
        finally:
            await _remove_queues(settings)
            await _remove_topics(settings)


async def _administer(services: Settings, statement: str) -> None:
    connection = await asyncpg.connect(services.required("database_url"))
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


async def _make_topics(settings: Settings) -> None:
    """Create the topics. The broker stamps the points, so that we know when each was there for others to read."""
    stamps = {settings.points_topic: "LogAppendTime", settings.transactions_topic: "CreateTime"}
    admin = AIOKafkaAdminClient(bootstrap_servers=settings.required("kafka_bootstrap"))
    await admin.start()
    try:
        await admin.create_topics(
            [
                NewTopic(topic, PARTITIONS, 1, topic_configs={"message.timestamp.type": stamp})
                for topic, stamp in stamps.items()
            ]
        )
    finally:
        await admin.close()


async def _fill(settings: Settings, accounts: int) -> None:
    cards = sorted(example_cards(), key=lambda card: card.scope)
    now = datetime.now(UTC)
    owner = await open_pool(settings.required("database_url"), size=1, role=None)
    try:
        await enter_accounts(
            owner,
            _MEMBERS,
            accounts,
            [card.scope for card in cards],
            [card.program for card in cards],
            [last_good_day(now, card.zone, card.expiry_months) for card in cards],
        )
        await owner.execute("checkpoint", timeout=600)
    finally:
        await owner.close()


async def _remove_queues(settings: Settings) -> None:
    async with sqs_client(settings.sqs_endpoint_url) as client:
        queues = await client.list_queues(QueueNamePrefix=settings.queue_prefix)
        for url in queues.get("QueueUrls", []):
            await client.delete_queue(QueueUrl=url)


async def _remove_topics(settings: Settings) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=settings.required("kafka_bootstrap"))
    await admin.start()
    try:
        known = await admin.list_topics()
        ours = {settings.transactions_topic, settings.points_topic, settings.tiers_topic, settings.events_topic}
        await admin.delete_topics(sorted(ours & set(known)))
    finally:
        await admin.close()
