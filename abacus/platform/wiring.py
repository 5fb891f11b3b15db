"""What a worker is wired from: pools, queues, publishers, readers, copies that are kept fresh, and their lifetimes.

It alone opens and closes connections. A capability's `wiring.py` puts the capability's own parts together with it.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial
from typing import Final, Protocol, TypeVar

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.core.signature import Producer, Verifier, read_keys, signer_for
from abacus.platform.announcements import Announced, Announcements
from abacus.platform.connections import Connections
from abacus.platform.database_clock import DatabaseClock
from abacus.platform.encryption import Secrets
from abacus.platform.following import together
from abacus.platform.health import Health, WorkerHealth
from abacus.platform.kafka.publisher import PUBLISH_WITHIN_S, StreamPublisher
from abacus.platform.kafka.reader import BATCH, Handler, Places, StreamReader
from abacus.platform.logins import Login, role_for
from abacus.platform.patience import until_available
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.rate_limits.limiter import RateLimiter
from abacus.platform.rate_limits.store import BucketStore
from abacus.platform.reading.cache_shares import CacheShares, SettingStore
from abacus.platform.reading.caches import Caches
from abacus.platform.reading.shared_cache import shared_cache
from abacus.platform.roles import APPLICATION_ROLE
from abacus.platform.settings import Settings
from abacus.platform.slices import SliceMap, slice_map_of
from abacus.platform.sqs.port import Queue
from abacus.platform.sqs.queue import LONG_POLL_S, Client, SqsQueue, sqs_client
from abacus.platform.sqs.signing_queue import SigningQueue

_COUNT_EVERY_S: Final = 10.0

log = structlog.get_logger(__name__)

Entered = TypeVar("Entered")


class _Copy(Protocol):
    def wake(self) -> None: ...
    async def keep_fresh(self) -> None: ...


class _Keys(_Copy, Protocol):
    async def keep_noting_use(self) -> None: ...
    async def note_use(self) -> None: ...


Kept = TypeVar("Kept", bound=_Copy)
KeptKeys = TypeVar("KeptKeys", bound=_Keys)

Run = together.Run


class Wiring:
    """Opens the parts of a worker. Everything is closed when the stack unwinds. The time is the database's, unless a
    clock is given.
    """

    def __init__(
        self,
        settings: Settings,
        stack: AsyncExitStack,
        group: asyncio.TaskGroup,
        *,
        health: Health,
        name: str,
        announcements: Announcements,
        clock: Clock | None = None,
    ) -> None:
        self.settings = settings
        self.announcements = announcements
        self.health = health.worker(name)
        self.process_health = health
        self.clock: Clock = clock or DatabaseClock()
        self._is_compared = False
        self._stack = stack
        self._group = group
        self._envelope_keys = read_keys(settings.envelope_keys)
        self._connections = Connections(name)
        self._caches: Caches | None = None

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
        if isinstance(self.clock, DatabaseClock) and not self._is_compared:
            await until_available(partial(self.clock.compare, pool), self.health)
            self.beside(self.clock.keep_compared(pool))
            self._is_compared = True
        return pool

    async def slice_map(self, pool: Pool) -> SliceMap:
        """The slices of the pool's database."""
        return await until_available(lambda: slice_map_of(pool), self.health)

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

    def limiter(self, pool: Pool, *, apart: str = "") -> RateLimiter:
        """Rates of requests, counted over all processes; `apart` from other doors' requests."""
        limiter = RateLimiter(BucketStore(pool), self.clock, apart=apart)
        self.beside(limiter.keep_giving_back())
        self.at_the_end(limiter.close)
        return limiter

    async def caches(self, pool: Pool) -> Caches:
        """The caches of answers of this worker, with the shares that are set for all processes. The pool is one of the
        live ledger.
        """
        if self._caches is not None:
            return self._caches
        settings = self.settings
        shared = shared_cache(
            settings.caches_redis_url,
            setting="ABACUS_CACHES_REDIS_URL",
            prefix=settings.queue_prefix,
            health=self.process_health,
        )
        caches = self._caches = Caches(self.clock, shared=await self.entered(shared), health=self.process_health)
        self.keep(CacheShares(SettingStore(pool, self.clock).all, caches.switch), on=(Announced.COUNTER_SETTINGS,))
        self.at_the_end(caches.close)
        return caches

    def verifier(self) -> Verifier:
        return Verifier(self._envelope_keys)

    def publisher(self, *, within_s: float = PUBLISH_WITHIN_S) -> StreamPublisher:
        """Publishing fails after `within_s`."""
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

    def keep(self, copy: Kept, *, on: Sequence[str] = ()) -> Kept:
        """A copy of tables, kept fresh until the worker ends, and read at once when a change of these is announced."""
        for table in on:
            self.announcements.call(copy.wake, on=table)
        self.beside(copy.keep_fresh())
        return copy

    def keep_keys(self, owners: KeptKeys, *, on: Sequence[str] = ()) -> KeptKeys:
        """A copy of keys and their owners, as `keep`; the last use of keys is noted."""
        self.beside(owners.keep_noting_use())
        self.at_the_end(partial(_note_use, owners))
        return self.keep(owners, on=on)

    def beside(self, work: Coroutine[None, None, None]) -> None:
        """Runs a task until the worker ends; the worker ends when the task fails."""
        self._stack.callback(self._group.create_task(work).cancel)

    def at_the_end(self, close: Callable[[], Awaitable[None]]) -> None:
        self._stack.push_async_callback(close)


async def _note_use(owners: _Keys) -> None:
    with contextlib.suppress(Unavailable):
        await owners.note_use()


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
