"""A place in which one trial follows the other: database, queues, topics, and the workers in it."""

import asyncio
import json
import multiprocessing
import signal
import uuid
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, Final

import asyncpg
from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaError

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.core.errors import Reason, Unavailable
from abacus.ledger.relay.cursor import RelayCursor
from abacus.ledger.store.post import PostgresLedger
from abacus.platform.encryption import new_keyring_text
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.groups import open_lags
from abacus.platform.kafka.publisher import StreamMessage, StreamPublisher
from abacus.platform.patience import until_available
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.settings import Settings
from abacus.platform.sqs.definition import AWARD, CAMPAIGN_RETRY, EXPIRY, RETRY, definitions, ensure_queues
from abacus.platform.sqs.queue import Client, SqsQueue, sqs_client
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.proof.decide.recheck import Recheck
from abacus.proof.verify import verify
from tests.reliability.chaos.crashes.due import Due, Held, Posted, Told, faults_of
from tests.reliability.chaos.crashes.worker import Order, work
from tests.support.cluster import Servers
from tests.support.house import unique_settings
from tests.support.logged import card_logged
from tests.support.services import Services
from workers import PIPELINE

KEYRING: Final = new_keyring_text("one")
VISIBLE_AFTER_S: Final = 3  # a killed worker's messages come back so much later
_END_WITHIN_S: Final = 30.0
_HEALTH: Final = WorkerHealth("lane")
_FORK: Final = multiprocessing.get_context("forkserver")
_FORK.set_forkserver_preload(["tests.reliability.chaos.crashes.preload"])


class Running:
    """A process of workers."""

    def __init__(self, order: Order) -> None:
        self._process: ForkServerProcess = _FORK.Process(target=work, args=(order,), daemon=True)
        self._process.start()
        self.ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(self._process.sentinel, self._note_end)

    def _note_end(self) -> None:
        asyncio.get_running_loop().remove_reader(self._process.sentinel)
        self._process.join()
        self.ended.set()

    @property
    def was_killed(self) -> bool:
        return self._process.exitcode == -signal.SIGKILL

    async def end(self) -> None:
        """End the process as an operator does, and by force if that takes too long."""
        if not self.ended.is_set():
            self._process.terminate()
        try:
            await asyncio.wait_for(self.ended.wait(), _END_WITHIN_S)
        except TimeoutError:
            self._process.kill()
            await self.ended.wait()


class Lane:
    """Everything that trials need, apart from every other lane. The trials in it share no member and no key."""

    def __init__(
        self,
        settings: Settings,
        directory: Path,
        *,
        pool: Pool,
        owner: asyncpg.Connection,
        client: Client,
        book: CardBook,
    ) -> None:
        self.settings = settings
        self.pool = pool
        self.owner = owner
        self.book = book
        self.clock = SystemClock()
        self.ledger = PostgresLedger(pool, self.clock)
        self.queues: dict[str, SqsQueue] = {}
        self.dead: list[SqsQueue] = []
        self._client = client
        self._directory = directory
        self._publisher = StreamPublisher(settings.required("kafka_bootstrap"))
        self._cursor = RelayCursor(pool, settings.points_topic, self.clock)
        self._has_produced = False
        self._told: list[Told] = []
        self._known_items: list[str] = []
        self._known_transfers: set[tuple[str, str, int]] = set()
        self._others: tuple[str, Running] | None = None
        self._started: list[Running] = []

    async def open(self) -> None:
        await ensure_queues(self._client, self.settings.queue_prefix)
        for definition in definitions(self.settings.queue_prefix):
            queue = await SqsQueue.find(self._client, definition.name)
            if definition.dead_letter is None:
                self.dead.append(queue)
            else:
                self.queues[definition.name.removeprefix(self.settings.queue_prefix)] = queue
                attributes = {"VisibilityTimeout": str(VISIBLE_AFTER_S)}
                await self._client.set_queue_attributes(QueueUrl=queue.url, Attributes=attributes)

    async def close(self) -> None:
        await asyncio.gather(*(running.end() for running in self._started))
        await self._publisher.close()

    async def produce(self, messages: Iterable[StreamMessage]) -> None:
        self._has_produced = True
        await self._publisher.publish(self.settings.transactions_topic, list(messages))

    async def tell(self, messages: Iterable[StreamMessage]) -> None:
        """Publish events."""
        await self._publisher.publish(self.settings.events_topic, list(messages))

    async def place(self, messages: Iterable[StreamMessage]) -> None:
        """Publish positions."""
        await self._publisher.publish(self.settings.positions_topic, list(messages))

    async def send(self, queue: str, bodies: Sequence[str]) -> None:
        await self.queues[queue].send(bodies)

    def start(self, *names: str, **how: Any) -> Running:
        running = Running(Order(names, self.settings, log=self.log, **how))
        self._started = [each for each in self._started if not each.ended.is_set()] + [running]
        return running

    @property
    def log(self) -> Path:
        return self._directory / "workers.log"

    @property
    def book_of_visits(self) -> Path:
        return self._directory / "visits"

    def visited(self) -> frozenset[str]:
        """The points in the book."""
        try:
            return frozenset(self.book_of_visits.read_text(encoding="utf-8").splitlines())
        except FileNotFoundError:
            return frozenset()

    async def staff(self, victim: str) -> None:
        """Have every worker of the pipeline running but this one."""
        if self._others is not None:
            if self._others[0] == victim:
                return
            await self._others[1].end()
        self._others = victim, self.start(*(name for name in PIPELINE if name != victim))

    async def is_read(self, group: str = "calculator", topic: str | None = None) -> bool:
        """Whether this group has committed every offset of the topic, which is that of transactions. The broker is
        asked for the ends: a publication that was cut off may be on the topic.
        """
        settings = self.settings
        if topic is None and not self._has_produced:
            return True
        bootstrap = settings.required("kafka_bootstrap")
        async with open_lags(bootstrap) as lags:
            return await lags.of(topic or settings.transactions_topic, f"{settings.queue_prefix}{group}") == 0

    async def is_empty(self, *queues: str) -> bool:
        return all([await self.queues[name].holds() == 0 for name in queues])

    async def is_told(self) -> bool:
        return await self._cursor.waiting() == 0

    async def is_through(self, due: Due) -> bool:
        """Whether nothing is on its way any more, and as much has come as is due."""
        return (
            await self._transfers() >= len(self._known_transfers) + due.posted.total()
            and len(await self._held(due)) >= due.held.total()
            and await self.is_told()
            and await self.is_empty(AWARD, RETRY, EXPIRY, CAMPAIGN_RETRY)
            and await self.is_read()
            and len({event.id for event in self._told}) >= due.posted.total()
        )

    async def audit(self, due: Due) -> list[str]:
        """The faults in everything that came since the last audit."""
        rows = await self.pool.fetch("select member_id, key, points, program, seq from transfer")
        transfers = {(row["member_id"], row["program"], row["seq"]): Posted(*row[:3]) for row in rows}
        new = [posted for place, posted in transfers.items() if place not in self._known_transfers]
        held = await self._held(due)
        faults = faults_of(due, new, held.values(), self._told)
        for queue in (*self.queues.values(), *self.dead):
            if count := await queue.holds():
                faults.append(f"queue {queue.name} holds {count}")
        report = await verify(self.pool, Recheck(self.book))
        faults += [str(fault) for fault in report.faults]
        self._known_transfers |= transfers.keys()
        self._known_items += held
        self._told.clear()
        return faults

    async def hear(self, consumer: AIOKafkaConsumer) -> None:
        """Note the events of the points stream until cancelled."""
        async for record in consumer:
            event = json.loads(record.value)
            data = event["data"]
            self._told.append(
                Told(event["id"], data["member_id"], data["program"], data["seq"], data["key"], data["points"])
            )

    async def _transfers(self) -> int:
        return int(await self.pool.fetchval("select count(*) from transfer"))

    async def _held(self, due: Due) -> dict[str, Held]:
        """A campaigner reads the messages of earlier trials too, and sets aside those that are no events."""
        rows = await self.pool.fetch(
            "select id, reason, body from quarantine where status = 'held' and id <> all($1)"
            " and (stage <> 'event' or position($2 in body) > 0)",
            self._known_items,
            due.mark.encode(),
        )
        return {row["id"]: Held(Reason(row["reason"]), bytes(row["body"])) for row in rows}


@asynccontextmanager
async def open_lane(services: Services, servers: Servers, template: str, directory: Path) -> AsyncIterator[Lane]:
    name = f"abacus_crashes_{uuid.uuid4().hex[:12]}"
    await servers.administer(f"create database {name} template {template}")
    address = servers.address_of(name)
    settings = unique_settings(
        database_url=address, sqs_endpoint_url=services.sqs_endpoint_url, kafka_bootstrap=services.kafka_bootstrap
    ).model_copy(update={"webhooks_to_private": True, "secrets_key": KEYRING})
    pool = await until_available(lambda: open_pool(address, size=2), _HEALTH)
    owner = await asyncpg.connect(address)
    consumer = await until_available(lambda: _reading(settings.points_topic, services.kafka_bootstrap), _HEALTH)
    try:
        async with sqs_client(services.sqs_endpoint_url) as client:
            book = CardBook(await CardStore(pool).all())
            lane = Lane(settings, directory, pool=pool, owner=owner, client=client, book=book)
            await lane.open()
            hearing = asyncio.ensure_future(lane.hear(consumer))
            try:
                yield lane
            finally:
                hearing.cancel()
                await asyncio.wait((hearing,))
                await lane.close()
    finally:
        await consumer.stop()
        await pool.close()
        await owner.close()
        await servers.drop(name)


async def _reading(topic: str, bootstrap: str) -> AIOKafkaConsumer:
    """A reader of the whole topic, in no group."""
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=bootstrap, auto_offset_reset="earliest")
    try:
        await consumer.start()
    except KafkaError as error:
        await consumer.stop()
        raise Unavailable("Kafka", str(error)) from error
    return consumer


async def publish_cards(database_url: str) -> None:
    pool = await open_pool(database_url, size=1)
    try:
        for card in example_cards():
            await CardStore(pool).publish(card, by="crashes", now=SystemClock().now(), also=card_logged(card))
    finally:
        await pool.close()
