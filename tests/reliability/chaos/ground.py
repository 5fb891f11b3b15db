"""The ground that a run has to itself: a database, queues and topics on the real services, and a crew of workers."""

import json
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple
from uuid import uuid4

from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from abacus.core.clock import SystemClock
from abacus.documents.store import DocumentStore
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.settings import Settings
from abacus.platform.sqs.definition import AWARD, CAMPAIGN_RETRY, EXPIRY, RETRY, ensure_queues
from abacus.platform.sqs.queue import Client, SqsQueue, sqs_client
from abacus.pricing.store.cards import CardStore
from abacus.programs.expiry.decide.month import Month
from abacus.signals.counters.kind import COUNTERS, held_sources
from abacus.signals.events.decide.source import parse_source
from abacus.signals.events.kind import SOURCES, Reserved
from abacus.signals.events.wiring import built_in_sources
from benchmarks.pipeline import environment
from localstack.running import Services
from tests.reliability.chaos import travelled
from tests.reliability.chaos.campaigned import HOUSE, SINCE
from tests.reliability.chaos.counted import definitions
from tests.reliability.chaos.crew import Crew
from tests.reliability.chaos.disk import SmallDisk, small_disk
from tests.reliability.chaos.needs import Need
from tests.reliability.chaos.proxying import Proxies, opened_proxies
from tests.reliability.chaos.servers import SLICES as SLICES_ON_SERVERS
from tests.reliability.chaos.servers import coordinator_url
from tests.reliability.chaos.workload import cards
from tests.support.births import Nursery
from tests.support.cluster import Servers
from tests.support.ledgers import make_ledger
from tests.support.logged import card_logged
from tests.support.moved_clock import set_to
from tests.support.running_campaigns import Stack, run_campaign
from tests.support.running_journeys import run_journey
from tests.support.slices import SLICES

PARTITIONS: Final = 6
CREW: Final = (
    *("calculator", "calculator", "awarder", "awarder", "retrier", "relay", "relay"),
    *("counter", "counter"),
)
CAMPAIGNERS: Final = ("campaigner", "campaigner")  # where campaigns and a journey are in force
JOURNEYERS: Final = ("journeyer", "journeyer")
LOGS: Final = Path(__file__).parents[3] / ".abacus" / "chaos"
_QUEUES: Final = (AWARD, RETRY, EXPIRY, CAMPAIGN_RETRY)
# A killed worker's messages come back sooner than in production, and slow ones are handed out twice.
_VISIBLE_AGAIN_S: Final = 8
_AUDITORS: Final = 4
READY_WITHIN_S: Final = 180.0


class Lapse(NamedTuple):
    """A month, and the moments at which it is over in the first and in the last country."""

    month: Month
    first_over: datetime
    last_over: datetime

    @classmethod
    def of(cls, month: Month) -> "Lapse":
        over = [month.over_at(card.zone) for card in cards()]
        return cls(month, min(over), max(over))


class Build(NamedTuple):
    """The properties of a proving ground."""

    name: str
    seed: int
    lapse: Lapse
    needs: Collection[Need] = ()
    late_after_s: float = 60.0
    campaigns: Sequence[Mapping[str, Any]] = ()  # in force before the first message, and with them a journey


@dataclass(frozen=True)
class ProvingGround:
    """`settings` lead straight to the services; the crew's may lead through proxies."""

    settings: Settings
    pool: Pool
    client: Client
    crew: Crew
    nursery: Nursery
    logs: Path
    lapse: Lapse
    of_proxies: Proxies | None = None
    of_disk: SmallDisk | None = None
    clock: Path | None = None  # the clock of commands, where clocks are wrong
    campaigned: bool = False

    @property
    def proxies(self) -> Proxies:
        assert self.of_proxies is not None
        return self.of_proxies

    @property
    def disk(self) -> SmallDisk:
        assert self.of_disk is not None
        return self.of_disk

    @property
    def command_clock(self) -> Path:
        assert self.clock is not None
        return self.clock

    @property
    def struck(self) -> Counter[str]:
        """The strikes that the proxies have counted."""
        return Counter() if self.of_proxies is None else self.of_proxies.struck

    @property
    def held(self) -> int:
        """Messages that wait in the proxy."""
        return 0 if self.of_proxies is None else self.of_proxies.sqs.held

    async def command(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        """Run `abacus` with these arguments; its exit code, and the JSON that it prints."""
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

    def group_of(self, worker: str) -> str:
        """The group in which workers of this name read: the transactions, or a journeyer the events."""
        return group_of(worker, self.settings)

    async def queue(self, name: str) -> SqsQueue:
        return await SqsQueue.find(self.client, self.settings.queue_prefix + name)


def group_of(worker: str, settings: Settings) -> str:
    topic = {
        **dict.fromkeys(CAMPAIGNERS, settings.transactions_topic),
        **dict.fromkeys(JOURNEYERS, settings.events_topic),
    }.get(worker)
    return f"{settings.queue_prefix}{worker}" if topic is None else f"{settings.queue_prefix}{worker}-{topic}"


@asynccontextmanager
async def opened_ground(services: Services, nursery: Nursery, plan: Build) -> AsyncIterator[ProvingGround]:
    """Everything made ready and the crew hired; afterwards nothing of it is left but the logs. Raises `CannotBeHad`."""
    logs = LOGS / plan.name
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    mark = f"chaos_{plan.name.replace('-', '_')}_{uuid4().hex[:6]}"
    async with AsyncExitStack() as stack:
        disk = clock = proxies = None
        if Need.SMALL_DISK in plan.needs:
            disk = await stack.enter_async_context(small_disk(logs / "small"))
            services = services._replace(database_url=disk.database_url)
        if Need.SERVERS in plan.needs:
            services = services._replace(database_url=coordinator_url())
        settings = crew_settings = _settings(services, mark)
        await stack.enter_async_context(_database(services, mark))
        await stack.enter_async_context(_topics(settings))
        client = await stack.enter_async_context(_queues(settings))
        pool = await open_pool(services.database(mark), size=_AUDITORS, role=None)
        stack.push_async_callback(_closed, pool)
        store = CardStore(pool)
        for card in cards():
            await store.publish(card, by="chaos", now=SystemClock().now(), also=card_logged(card))
        await _publish_counters(settings, pool)
        await _begin_campaigns(settings, pool, plan.campaigns)
        if plan.campaigns:
            await run_journey(Stack(settings, pool), approved_at=SINCE, **travelled.document())
        if Need.PROXIES in plan.needs:
            opening = opened_proxies(settings, plan.seed, late_after_s=plan.late_after_s)
            proxies = await stack.enter_async_context(opening)
            crew_settings = proxies.led_through(settings)
        if Need.WRONG_CLOCKS in plan.needs:
            clock = logs / "clock"
        crew = await stack.enter_async_context(Crew(nursery, environment(crew_settings), logs))
        _hire(crew, clock, plan.lapse.first_over, (*CAMPAIGNERS, *JOURNEYERS) if plan.campaigns else ())
        await crew.ready(READY_WITHIN_S)
        built = proxies, disk, clock, bool(plan.campaigns)
        yield ProvingGround(settings, pool, client, crew, nursery, logs, plan.lapse, *built)


def _settings(services: Services, mark: str) -> Settings:
    return Settings(
        database_url=services.database(mark),
        sqs_endpoint_url=services.sqs_endpoint_url,
        kafka_bootstrap=services.kafka_bootstrap,
        queue_prefix=f"{mark}-",
        transactions_topic=f"{mark}.transactions",
        points_topic=f"{mark}.points",
        generation_transfers=2000,  # so that faults meet several generations
        tiers_topic=f"{mark}.tiers",
        events_topic=f"{mark}.events",
    )


async def _publish_counters(settings: Settings, pool: Pool) -> None:
    sources = built_in_sources(settings)
    drafts = definitions(sources)
    await DocumentStore(pool, COUNTERS).publish(drafts, held_sources(sources), by="chaos", now=SystemClock().now())


async def _begin_campaigns(settings: Settings, pool: Pool, documents: Sequence[Mapping[str, Any]]) -> None:
    if documents:
        await DocumentStore(pool, SOURCES).publish(
            [parse_source(HOUSE)],
            Reserved(built_in_sources(settings), settings.events_topic).look,
            by="chaos",
            now=now(),
        )
    for document in documents:
        await run_campaign(Stack(settings, pool), approved_at=SINCE, **document)


def _hire(crew: Crew, clock: Path | None, moment: datetime, more: Sequence[str]) -> None:
    """Each with a clock of its own, where clocks are wrong; they stand at this moment at first."""
    if clock is None:
        for name in (*CREW, *more):
            crew.hire(name)
        return
    set_to(clock, moment, now())
    for place, name in enumerate((*CREW, "expirer")):
        own = clock.with_name(f"clock-{place}")
        set_to(own, moment, now())
        crew.hire(name, clock=own)


def now() -> datetime:
    return datetime.now(UTC)


async def _closed(pool: Pool) -> None:
    pool.terminate()


@asynccontextmanager
async def _database(services: Services, name: str) -> AsyncIterator[None]:
    servers = await Servers.of(services.database_url)
    try:
        await make_ledger(servers, name, slices=SLICES_ON_SERVERS if servers.are_several else SLICES)
        yield
    finally:
        await servers.tidy(name)
        await servers.drop(name)
        await servers.close()


@asynccontextmanager
async def _topics(settings: Settings) -> AsyncIterator[None]:
    names = (settings.transactions_topic, settings.points_topic, settings.tiers_topic, settings.events_topic)
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
