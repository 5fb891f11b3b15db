"""Counters for tests that run on a database: their source, their definitions, and rows that were counted."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from abacus.core.clock import SystemClock
from abacus.documents.store import DocumentStore
from abacus.platform.metrics import CACHE_ANSWERS, total
from abacus.platform.postgres import Pool
from abacus.signals.counters.decide.admission import KeyRoom, window_of
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.definition_document import parse_definition
from abacus.signals.counters.decide.grid import slot_of
from abacus.signals.counters.kind import COUNTERS, held_sources
from abacus.signals.counters.reading.closed_parts import COUNTS
from abacus.signals.counters.store.postgres import PostgresCounterStore
from abacus.signals.counters.types import Count, Grain, Row, RowKey
from abacus.signals.events.decide.source import Source, parse_source
from abacus.signals.events.kind import SOURCES, Reserved

GRAINS: Final = {"minutes": Grain.MINUTE, "quarters": Grain.QUARTER, "hours": Grain.HOUR, "days": Grain.DAY}
WEATHER: Final[dict[str, Any]] = {
    "source": "weather",
    "topic": "weather.observations",
    "fields": {"type": "/type", "id": "/id", "time": "/at"},
    "types": {
        "rain.drop": {
            "city_id": {"pointer": "/city", "type": "text"},
            "litres": {"pointer": "/litres", "type": "decimal"},
        }
    },
}
RAIN: Final[dict[str, Any]] = {
    "id": 34,
    "name": "count_rain_drops",
    "template": "rain_drops:city:{city_id}",
    "on": ["rain.drop"],
    "keep": {"quarters": "10y", "hours": "10y", "days": "10y"},
}
_FOR_EVER: Final = int(datetime(2036, 1, 1, tzinfo=UTC).timestamp())


def parts_found() -> int:
    """How many parts of counts this process has found where it keeps them."""
    return total(CACHE_ANSWERS, route=COUNTS, outcome="hit")


async def publish_weather(pool: Pool) -> Source:
    draft = parse_source(WEATHER)
    now = SystemClock().now()
    (record,) = await DocumentStore(pool, SOURCES).publish(
        [draft], Reserved((), "abacus.events.v1").look, by="tests", now=now
    )
    return record.document


async def publish_counter(
    pool: Pool, document: dict[str, Any], weather: Source, *, ago: timedelta = timedelta(hours=2)
) -> Definition:
    """Unless the test says otherwise so long ago that closed parts may be kept."""
    draft = parse_definition(document, {weather.name: weather})
    now = SystemClock().now() - ago
    (published,) = await DocumentStore(pool, COUNTERS).publish([draft], held_sources(()), by="tests", now=now)
    return published.document


async def save_counts(
    pool: Pool, definition: Definition, key: str, counts: Iterable[tuple[str, str, int]], writer: int = 1
) -> None:
    """Rows as a writer leaves them: the name of the grain, the beginning of the slot, and the count."""
    rows = [
        Row(
            RowKey(definition.stored_key(key), slot_of(GRAINS[grain], int(_moment(begin).timestamp())), writer),
            Count(count, 1),
            _FOR_EVER,
        )
        for grain, begin, count in counts
    ]
    await PostgresCounterStore(pool, SystemClock()).save(rows)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


async def save_keys(pool: Pool, definition: Definition, keys: Iterable[str]) -> None:
    """The rows that remember keys as keys that count."""
    window = window_of(definition, int(SystemClock().now().timestamp()))
    rows = [Row(RowKey(definition.stored_key(key), window, 1), Count(KeyRoom.NEW, 1), _FOR_EVER) for key in keys]
    await PostgresCounterStore(pool, SystemClock()).save(rows)
