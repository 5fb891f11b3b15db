"""How sources of events are put together: the published ones, and those that are there from the start."""

from collections.abc import Mapping, Sequence
from functools import partial

from abacus.core.clock import SystemClock
from abacus.core.errors import SetAside
from abacus.documents.directory import DocumentDirectory
from abacus.documents.store import DocumentStore
from abacus.platform.announcements import Announced
from abacus.platform.kafka.publisher import StreamPublisher
from abacus.platform.patience import until_available
from abacus.platform.postgres import Pool
from abacus.platform.quarantine.replay import PublishEvents
from abacus.platform.quarantine.types import Item
from abacus.platform.settings import Settings
from abacus.platform.wiring import Wiring
from abacus.signals.events.decide.builtin import built_in
from abacus.signals.events.decide.source import Source
from abacus.signals.events.event_desk import EventDesk, Publish, without_broker
from abacus.signals.events.kind import SOURCES, Sources, source_directory
from abacus.signals.events.replay import replay_events


def built_in_sources(settings: Settings) -> list[Source]:
    """The event sources that are there from the start."""
    return built_in(
        transactions_topic=settings.transactions_topic,
        points_topic=settings.points_topic,
        tiers_topic=settings.tiers_topic,
    )


def sources_in_use(wiring: Wiring, pool: Pool) -> DocumentDirectory[Sources]:
    return wiring.keep(source_directory(pool, built_in_sources(wiring.settings)), on=(Announced.EVENT_SOURCES,))


async def event_desk(wiring: Wiring, pool: Pool, *, within_s: float) -> EventDesk:
    """For events that senders post. Without a broker none are published, and all else goes on."""
    sources = sources_in_use(wiring, pool)
    await until_available(sources.refresh, wiring.health)
    publish: Publish = without_broker
    if wiring.settings.kafka_bootstrap is not None:
        publish = partial(wiring.publisher(within_s=within_s).publish, wiring.settings.events_topic)
    desk = EventDesk(sources, publish)
    wiring.at_the_end(desk.close)
    return desk


def replaying_events(pool: Pool, settings: Settings) -> PublishEvents:
    """Publishes events of the quarantine, for a command. Raises `Refused` where there are any and no broker is set."""

    async def publish(items: Sequence[Item]) -> Mapping[str, SetAside]:
        publisher = StreamPublisher(settings.required("kafka_bootstrap"))
        published = [record.document for record in await DocumentStore(pool, SOURCES).latest()]
        sources = [*built_in_sources(settings), *published]
        try:
            return await replay_events(items, sources, publisher.publish, settings.events_topic, SystemClock().now())
        finally:
            await publisher.close()

    return publish
