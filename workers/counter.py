"""Counts events: follows the topics of all sources whose events some definition counts."""

from datetime import timedelta
from typing import Final

from abacus.bootstrap import Service
from abacus.platform.following.together import together
from abacus.platform.following.topics import FollowedTopics
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.topic_id import TopicIds
from abacus.platform.postgres import LOOKUPS_BY_KEY
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.wiring import Run, Wiring
from abacus.signals.counters.counter import EventCounter
from abacus.signals.counters.decide.batch import Remembering
from abacus.signals.counters.documents import Documents
from abacus.signals.counters.new_keys import NewKeysBook
from abacus.signals.counters.open_rows import OpenRows
from abacus.signals.counters.partitions import OpenPartitions
from abacus.signals.counters.series import SeriesBook
from abacus.signals.counters.topic import KafkaTopic
from abacus.signals.counters.wiring import counter_store, counters_in_use
from abacus.signals.counters.writer import CounterWriter

NEEDS: Final = frozenset({Service.DATABASE, Service.KAFKA})
_CONNECTIONS: Final = 4
_MOST_RECORDS: Final = 20_000
_GATHER_S: Final = 0.2  # a row that many events add to is saved once for all of them


async def wire(wiring: Wiring) -> Run:
    settings, clock = wiring.settings, wiring.clock
    bootstrap = settings.required("kafka_bootstrap")
    pool = await wiring.pool(size=_CONNECTIONS, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    documents = Documents(counters_in_use(wiring, pool).catalog, settings.events_topic)
    store = await counter_store(wiring, pool)
    wiring.beside(store.tend())
    counter = EventCounter(
        store.store,
        OpenRows(settings.counter_open_rows),
        QuarantineStore(pool, clock),
        Remembering(timedelta(hours=settings.counter_repeat_hours)),
        clock,
        new_keys=NewKeysBook(pool, clock),
    )
    ids = TopicIds(bootstrap)
    wiring.at_the_end(ids.close)

    def follow(name: str, health: WorkerHealth) -> Run:
        topic = KafkaTopic(bootstrap, name, ids)
        writer = CounterWriter(topic, documents, OpenPartitions(topic, SeriesBook(pool, clock)), counter, health)
        read = wiring.following(
            name,
            f"counter-{name}",
            writer.handle,
            health,
            max_records=_MOST_RECORDS,
            gather_s=_GATHER_S,
            places=writer,
        )
        return together(read, writer.adopt)

    return FollowedTopics(documents.topics, follow, wiring.health).run
