"""How sources of events are put together: published sources, and the sources from the start."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final

from abacus.core.clock import SystemClock
from abacus.core.errors import SetAside
from abacus.documents.directory import DocumentDirectory
from abacus.documents.types import documents
from abacus.platform.following.topics import FollowedTopics
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.groups import committed
from abacus.platform.kafka.offsets import begins_since, topics_of
from abacus.platform.kafka.publisher import StreamPublisher
from abacus.platform.kafka.ranges import last_of
from abacus.platform.patience import until_available
from abacus.platform.postgres import Pool
from abacus.platform.quarantine.counted import CountedQuarantine
from abacus.platform.quarantine.replay import PublishEvents
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.quarantine.types import Item
from abacus.platform.settings import Settings
from abacus.platform.wiring import Run, Wiring
from abacus.signals.events.broker_topics import BrokerTopics
from abacus.signals.events.decide.builtin import built_in
from abacus.signals.events.decide.source import Source
from abacus.signals.events.decide.substream import Asked
from abacus.signals.events.decide.whereabouts import Locate
from abacus.signals.events.event_desk import CountedEventDesk, Publish, without_broker
from abacus.signals.events.kind import Reserved, SourceDesk, Sources, source_directory
from abacus.signals.events.recent import RecentEvents
from abacus.signals.events.replay import replay_events
from abacus.signals.events.substream import AskedTogether, LargeTopics, SubstreamCopier

_MOST_RECORDS: Final = 20_000
_GATHER_S: Final = 0.05
_LAST: Final = 100  # messages of a partition
_SILENT_AFTER_S: Final = 5.0


def built_in_sources(settings: Settings) -> list[Source]:
    """The event sources that are there from the start."""
    return built_in(
        transactions_topic=settings.transactions_topic,
        points_topic=settings.points_topic,
        tiers_topic=settings.tiers_topic,
    )


async def sources_now(pool: Pool, settings: Settings) -> list[Source]:
    """The published sources, behind the sources from the start. Raises `Unavailable`."""
    desk = SourceDesk(pool, SystemClock(), Reserved(built_in_sources(settings), settings.events_topic))
    return documents(await desk.records())


def sources_in_use(wiring: Wiring, pool: Pool) -> DocumentDirectory[Sources]:
    sources = source_directory(pool, built_in_sources(wiring.settings))
    return wiring.keep(sources, on=sources.tables)


async def substream(wiring: Wiring, askers: Sequence[Callable[[Wiring, Pool], Callable[[], Asked]]]) -> Run:
    """Copies what any of the rooms above asks for."""
    settings = wiring.settings
    bootstrap = settings.required("kafka_bootstrap")
    pool = await wiring.pool(size=2)
    publisher = wiring.publisher()
    large = LargeTopics(AskedTogether([asker(wiring, pool) for asker in askers]), settings.events_topic)

    def follow(topic: str, health: WorkerHealth) -> Run:
        group = f"substream-{topic}"

        async def first_since(partitions: Collection[int], moment: datetime) -> Mapping[int, int]:
            return (await begins_since(bootstrap, topic, partitions, [moment]))[moment]

        copier = SubstreamCopier(
            topic,
            large,
            CountedQuarantine(QuarantineStore(pool, wiring.clock)),
            first_since=first_since,
            committed=partial(committed, bootstrap, topic, settings.queue_prefix + group),
            publish=publisher.publish,
            clock=wiring.clock,
            health=health,
        )
        return wiring.following(
            topic, group, copier.handle, health, max_records=_MOST_RECORDS, gather_s=_GATHER_S, places=copier
        )

    return FollowedTopics(large.topics, follow, wiring.health).run


async def event_desk(wiring: Wiring, pool: Pool, locate: Locate, *, within_s: float) -> CountedEventDesk:
    """For events that senders post. Without a broker none are published, and all else goes on."""
    sources = sources_in_use(wiring, pool)
    await until_available(sources.refresh, wiring.health)
    publish: Publish = without_broker
    if wiring.settings.kafka_bootstrap is not None:
        publish = partial(wiring.publisher(within_s=within_s).publish, wiring.settings.events_topic)
    desk = CountedEventDesk(sources, publish, locate=locate)
    wiring.at_the_end(desk.close)
    return desk


def recent_events(wiring: Wiring, locate: Locate) -> RecentEvents | None:
    """None where no broker is named."""
    settings = wiring.settings
    bootstrap = settings.kafka_bootstrap
    if bootstrap is None:
        return None

    async def tail(topic: str, since: datetime) -> Sequence[bytes]:
        records = await last_of(bootstrap, topic, since, _LAST, silent_after_s=_SILENT_AFTER_S)
        return [each.value for each in records]

    recent = RecentEvents(tail, wiring.clock, settings.events_topic, locate=locate)
    wiring.beside(recent.keep_reading())
    return recent


def broker_topics(wiring: Wiring) -> BrokerTopics | None:
    """None where no broker is named."""
    bootstrap = wiring.settings.kafka_bootstrap
    if bootstrap is None:
        return None
    topics = BrokerTopics(partial(topics_of, bootstrap))
    wiring.beside(topics.keep_looking())
    return topics


def replaying_events(pool: Pool, settings: Settings) -> PublishEvents:
    """Publishes events of the quarantine, for a command. Raises `Refused` where there are any and no broker is set."""

    async def publish(items: Sequence[Item]) -> Mapping[str, SetAside]:
        publisher = StreamPublisher(settings.required("kafka_bootstrap"))
        sources = await sources_now(pool, settings)
        try:
            return await replay_events(items, sources, publisher.publish, settings.events_topic, SystemClock().now())
        finally:
            await publisher.close()

    return publish
