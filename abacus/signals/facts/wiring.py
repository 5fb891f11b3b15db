"""How facts are put together."""

from collections.abc import Callable
from typing import Final

from abacus.platform.kafka.topic_id import TopicIds
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool
from abacus.platform.wiring import Wiring
from abacus.signals.counters.headway import Headway
from abacus.signals.counters.reading.service import CountService
from abacus.signals.counters.series import SeriesBook
from abacus.signals.counters.wiring import counter_store, counting_service
from abacus.signals.facts.counters import CounterFacts, Published

_COUNTING_CONNECTIONS: Final = 2


async def counter_facts(wiring: Wiring, pool: Pool, published: Callable[[], Published]) -> CounterFacts:
    """Counts as they are for an event: an event waits for a counter that has not come to it."""
    settings = wiring.settings
    counting = await _counting(wiring, pool, keeps_parts=False)
    ids = TopicIds(settings.required("kafka_bootstrap"))
    wiring.at_the_end(ids.close)
    headway = Headway(SeriesBook(pool, wiring.clock), ids, within_s=settings.campaign_counter_wait_seconds)
    return CounterFacts(pool, published, counting.counts, headway.passed, events_topic=settings.events_topic)


async def present_counter_facts(wiring: Wiring, pool: Pool, published: Callable[[], Published]) -> CounterFacts:
    """Counts as they are now."""
    counting = await _counting(wiring, pool, keeps_parts=True)
    return CounterFacts(pool, published, counting.counts, events_topic=wiring.settings.events_topic)


async def _counting(wiring: Wiring, pool: Pool, *, keeps_parts: bool) -> CountService:
    asking = await wiring.pool(
        size=_COUNTING_CONNECTIONS,
        settings=LOOKUPS_BY_KEY,
        keeps_nothing=True,
        within_s=wiring.settings.counts_timeout_seconds,
    )
    store, _ = await counter_store(wiring, asking)
    counting = await counting_service(wiring, pool, store, keeps_parts=keeps_parts)
    wiring.at_the_end(counting.close)
    return counting
