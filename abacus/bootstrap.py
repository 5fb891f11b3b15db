"""The wiring: it alone reads settings, opens and closes connections, and runs workers."""

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from datetime import timedelta
from enum import StrEnum
from functools import partial
from typing import Final, TypeVar

import structlog

from abacus.configuration import built_in_sources, cassandra_of
from abacus.core.clock import SystemClock
from abacus.core.errors import SetAside, Unavailable
from abacus.core.vouching import Producer, Verifier, read_keys, signer_for
from abacus.engage.campaigns.directory import CampaignDirectory
from abacus.engage.downstreams.directory import DownstreamDirectory
from abacus.engage.downstreams.store import DownstreamStore
from abacus.intake.earning.decide.retry import RetryPolicy
from abacus.intake.earning.issuing import Issuing
from abacus.ledger.store.read import LedgerReader
from abacus.platform.announcements import Announced, Announcements
from abacus.platform.connections import Connections
from abacus.platform.database_clock import DatabaseClock
from abacus.platform.encryption import Secrets
from abacus.platform.following import together
from abacus.platform.health import Health, WorkerHealth
from abacus.platform.kafka.publisher import PUBLISH_WITHIN_S, StreamPublisher
from abacus.platform.kafka.reader import BATCH, Handler, Places, StreamReader
from abacus.platform.logins import Login, role_for
from abacus.platform.metrics import CARDS_AGE
from abacus.platform.patience import unless_stopped, until_available
from abacus.platform.postgres import Pool, open_connection, open_pool
from abacus.platform.quarantine.replay import PublishEvents
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.quarantine.types import Item
from abacus.platform.reading.shared_cache import shared_cache
from abacus.platform.roles import APPLICATION_ROLE
from abacus.platform.settings import Settings
from abacus.platform.slices import Slicing, slicing_of
from abacus.platform.sqs.definition import AWARD, RETRY
from abacus.platform.sqs.port import Queue
from abacus.platform.sqs.queue import LONG_POLL_S, Client, SqsQueue, sqs_client
from abacus.platform.sqs.signing import SigningQueue
from abacus.pricing.store.cards import CardStore
from abacus.pricing.store.reader import CardReader
from abacus.programs.tiers.store import MembershipStore
from abacus.signals.counters.directory import CounterDirectory
from abacus.signals.counters.kind import DefinitionStore
from abacus.signals.counters.reading.cache_share import PARTS_KEPT, CacheShare, CacheShareStore
from abacus.signals.counters.reading.closed_parts import ClosedParts
from abacus.signals.counters.reading.rounds import Rounds
from abacus.signals.counters.reading.service import CountService
from abacus.signals.counters.store.opening import OpenedStore, open_store
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.events.directory import SourceDirectory
from abacus.signals.events.kind import SourceStore
from abacus.signals.events.replaying import replay_events
from abacus.signals.segments.in_use import SegmentsInUse

_COUNT_EVERY_S: Final = 10.0

log = structlog.get_logger(__name__)

Entered = TypeVar("Entered")

Run = together.Run
Wire = Callable[["Wiring"], Awaitable[Run]]


class Service(StrEnum):
    """A service that a worker needs; the value is the field of the settings with its address."""

    DATABASE = "database_url"
    KAFKA = "kafka_bootstrap"
    SQS = "sqs_endpoint_url"


def require_addresses(services: Collection[Service], settings: Settings) -> None:
    """Raises `Refused` with the name of the first setting that is missing. For SQS no address means AWS."""
    if Service.DATABASE in services:
        settings.required("database_url")
    if Service.KAFKA in services:
        settings.required("kafka_bootstrap")


def replaying_events(pool: Pool, settings: Settings) -> PublishEvents:
    """Publishes events of the quarantine, for a command. Raises `Refused` where there are any and no broker is set."""

    async def publish(items: Sequence[Item]) -> Mapping[str, SetAside]:
        publisher = StreamPublisher(settings.required("kafka_bootstrap"))
        published = [record.document for record in await SourceStore(pool).latest()]
        sources = [*built_in_sources(settings), *published]
        try:
            return await replay_events(items, sources, publisher.publish, settings.events_topic, SystemClock().now())
        finally:
            await publisher.close()

    return publish


class Wiring:
    """Opens the parts of a worker. Everything is closed when the stack unwinds."""

    def __init__(
        self,
        settings: Settings,
        stack: AsyncExitStack,
        group: asyncio.TaskGroup,
        *,
        health: Health,
        name: str,
        announcements: Announcements,
    ) -> None:
        self.settings = settings
        self.announcements = announcements
        self.health = health.worker(name)
        self.process_health = health
        self.clock = DatabaseClock()
        self._is_compared = False
        self._stack = stack
        self._group = group
        self._envelope_keys = read_keys(settings.envelope_keys)
        self._connections = Connections(name)

    async def pool(
        self,
        *,
        size: int,
        settings: Mapping[str, str] | None = None,
        keeps_nothing: bool = False,
        within_s: float | None = None,
        login: Login | None = None,
    ) -> Pool:
        """For the arguments see `open_pool`; `login` is another than the workers'."""
        url, role = self.settings.required("database_url"), APPLICATION_ROLE
        if login is not None:
            url = login.url or url
            role = await until_available(lambda: role_for(url, login.role, login.setting), self.health)
            if role == APPLICATION_ROLE:
                log.warning(
                    "the workers' login may be any person", remedy=f"{login.setting}; see docs/operate/deploy.md"
                )
        beside, noted = self.settings.server_connections, self._connections.noted
        opening = partial(
            open_pool, role=role, settings=settings, keeps_nothing=keeps_nothing, within_s=within_s, beside=beside
        )
        pool = await until_available(lambda: opening(url, size=size, noted=noted), self.health)
        self._stack.push_async_callback(_close_pool, pool)
        self._connections.opened(pool)
        if not self._is_compared:
            await until_available(lambda: self.clock.compare(pool), self.health)
            self.beside(self.clock.keep_compared(pool))
            self._is_compared = True
        return pool

    async def slicing(self, pool: Pool) -> Slicing:
        """The slices of the pool's database."""
        return await until_available(lambda: slicing_of(pool), self.health)

    async def sqs(self, *, within_s: float = LONG_POLL_S) -> Client:
        return await self.entered(sqs_client(self.settings.sqs_endpoint_url, within_s=within_s))

    async def entered(self, opening: AbstractAsyncContextManager[Entered]) -> Entered:
        """Opens the resource, and closes it when the worker ends."""
        return await self._stack.enter_async_context(opening)

    async def queue(self, client: Client, name: str) -> SqsQueue:
        full_name = self.settings.queue_prefix + name
        queue = await until_available(lambda: SqsQueue.find(client, full_name), self.health)
        self.beside(_count_waiting(queue))
        return queue

    def secrets(self) -> Secrets:
        """Stored secrets. Says in the log when they are stored as they are."""
        secrets = Secrets.of(self.settings.secrets_key)
        if not secrets.encrypts:
            log.warning("secrets are stored readable: ABACUS_SECRETS_KEY is not set", worker=self.health.name)
        return secrets

    def signed_by(self, producer: Producer, queue: Queue) -> Queue:
        """The queue for sending: its messages are signed by the producer, where keys are set. Raises `Refused`."""
        signer = signer_for(self._envelope_keys, producer)
        return queue if signer is None else SigningQueue(queue, signer)

    def verifier(self) -> Verifier:
        return Verifier(self._envelope_keys)

    def publisher(self, *, within_s: float = PUBLISH_WITHIN_S) -> StreamPublisher:
        """Publishing fails after so many seconds."""
        publisher = StreamPublisher(self.settings.required("kafka_bootstrap"), publish_within_s=within_s)
        self._stack.push_async_callback(publisher.close)
        return publisher

    def following(
        self,
        topic: str,
        group: str,
        handle: Handler,
        health: WorkerHealth,
        *,
        max_records: int = BATCH,
        gather_s: float = 0.0,
        places: Places | None = None,
    ) -> Run:
        """A reader of the topic in this group, as `StreamReader` describes it; the group's name gets the prefix of the
        queues.
        """
        reader = StreamReader(
            self.settings.required("kafka_bootstrap"),
            topic,
            f"{self.settings.queue_prefix}{group}",
            health,
            max_records=max_records,
            gather_s=gather_s,
            places=places,
        )
        return lambda stop: reader.run(handle, stop)

    def beside(self, work: Coroutine[None, None, None]) -> None:
        """Runs a task until the worker ends; the worker ends when the task fails."""
        self._stack.callback(self._group.create_task(work).cancel)

    def at_the_end(self, close: Callable[[], Awaitable[None]]) -> None:
        self._stack.push_async_callback(close)

    async def counter_store(self, pool: Pool) -> OpenedStore:
        """The store of counters that the settings name. The pool best has the settings `LOOKUPS_BY_KEY`."""
        return await self.entered(open_store(cassandra_of(self.settings), pool, self.clock))

    def cards(self, pool: Pool) -> CardReader:
        cards = CardReader(CardStore(pool).all)
        CARDS_AGE.set_function(lambda: cards.age_s)
        self.announcements.call(cards.wake, on=Announced.RATE_CARDS)
        self.beside(cards.keep_fresh())
        return cards

    def sources(self, pool: Pool) -> SourceDirectory:
        sources = SourceDirectory(SourceStore(pool).latest, built_in_sources(self.settings))
        self.announcements.call(sources.wake, on=Announced.EVENT_SOURCES)
        self.beside(sources.keep_fresh())
        return sources

    def counters(self, pool: Pool) -> CounterDirectory:
        counters = CounterDirectory(DefinitionStore(pool).published, built_in_sources(self.settings))
        self.announcements.call(counters.wake, on=Announced.COUNTERS)
        self.announcements.call(counters.wake, on=Announced.EVENT_SOURCES)
        self.beside(counters.keep_fresh())
        return counters

    async def counting(
        self, pool: Pool, store: CounterStore, *, at_once: int = 1, keeps_parts: bool = True
    ) -> CountService:
        """Answers to lookups of counters, by as many rounds at once; all of them from the store itself, unless it keeps
        closed parts. `close` it at the end.
        """
        settings, clock = self.settings, self.clock
        keeps = self._cache_share(pool).keeps if keeps_parts else lambda _: False
        redis_url = settings.counts_redis_url if keeps_parts else None
        shared = shared_cache(
            redis_url,
            setting="ABACUS_COUNTS_REDIS_URL",
            prefix=settings.queue_prefix,
            health=self.process_health,
        )
        definitions = self.counters(pool)
        await until_available(definitions.refresh, self.health)
        parts = ClosedParts(settings.counts_cache_parts)
        rounds = Rounds(
            store,
            clock,
            within_s=settings.counts_timeout_seconds,
            parts=parts,
            keep_s=PARTS_KEPT.total_seconds(),
            shared=await self.entered(shared),
            at_once=at_once,
            health=self.process_health,
        )
        late_by = timedelta(hours=settings.counts_late_hours)
        return CountService(
            definitions.catalog, rounds, parts, clock, late_by_s=int(late_by.total_seconds()), keeps=keeps
        )

    def _cache_share(self, pool: Pool) -> CacheShare:
        share = CacheShare(CacheShareStore(pool, self.clock).all, self.clock)
        self.announcements.call(share.wake, on=Announced.COUNTER_SETTINGS)
        self.beside(share.keep_fresh())
        return share

    def segments(self, pool: Pool) -> SegmentsInUse:
        segments = SegmentsInUse(pool)
        self.announcements.call(segments.sets.wake, on=Announced.SEGMENTS)
        self.beside(segments.sets.keep_fresh())
        return segments

    def downstreams(self, pool: Pool) -> DownstreamDirectory:
        downstreams = DownstreamDirectory(lambda: DownstreamStore(pool).signed(self.clock.now()))
        self.announcements.call(downstreams.wake, on=Announced.DOWNSTREAMS)
        self.beside(downstreams.keep_fresh())
        return downstreams

    def campaigns(self, pool: Pool) -> CampaignDirectory:
        settings = self.settings
        campaigns = CampaignDirectory(
            pool, built_in_sources(settings), self.clock, uncounted_from=settings.campaign_uncounted_from
        )
        for announced in (Announced.CAMPAIGNS, Announced.COUNTERS, Announced.EVENT_SOURCES, Announced.DOWNSTREAMS):
            self.announcements.call(campaigns.wake, on=announced)
        self.beside(campaigns.keep_fresh())
        return campaigns

    async def issuing(self, pool: Pool, client: Client, producer: Producer) -> Issuing:
        return Issuing(
            cards=self.cards(pool),
            tiers=MembershipStore(pool, self.clock),
            postings=LedgerReader(pool),
            award_queue=self.signed_by(producer, await self.queue(client, AWARD)),
            retry_queue=self.signed_by(producer, await self.queue(client, RETRY)),
            quarantine=QuarantineStore(pool, self.clock),
            retry_policy=RetryPolicy(give_up_after=timedelta(hours=self.settings.retry_hours)),
            slicing=await self.slicing(pool),
            clock=self.clock,
            rng=random.Random(),
            health=self.health,
        )


def announcements_of(settings: Settings) -> Announcements:
    """The announcements of the database, for all workers of a process. A worker that listens has a database."""
    return Announcements(lambda: open_connection(settings.required("database_url")))


async def run_worker(
    name: str, wire: Wire, settings: Settings, health: Health, stop: asyncio.Event, *, announcements: Announcements
) -> None:
    """Wires a worker and runs it until `stop` is set. Waits for services that are down."""
    try:
        async with asyncio.TaskGroup() as group, AsyncExitStack() as stack:
            wiring = Wiring(settings, stack, group, health=health, name=name, announcements=announcements)
            run = await unless_stopped(wire(wiring), stop)
            if run is not None:
                await run(stop)
    except ExceptionGroup as failures:
        raise _first(failures) from None


def _first(failures: ExceptionGroup[Exception]) -> Exception:
    """The failure that ended the others."""
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, ExceptionGroup) else first


async def _count_waiting(queue: SqsQueue) -> None:
    """Runs until cancelled: keeps the queue's metric fresh."""
    while True:
        with contextlib.suppress(Unavailable):
            await queue.waiting()
        await asyncio.sleep(_COUNT_EVERY_S)


async def _close_pool(pool: Pool) -> None:
    try:
        await asyncio.wait_for(pool.close(), 5)
    except TimeoutError:
        pool.terminate()
