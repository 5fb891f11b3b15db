"""Each process has the counters in force, with the sources of the same moment."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from abacus.core.errors import Unavailable
from abacus.documents.directory import DocumentDirectory
from abacus.documents.store import DocumentStore
from abacus.platform.announcements import Announcements
from abacus.platform.fresh_copy import Cadence
from abacus.platform.postgres import Pool, open_connection
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.kind import COUNTERS, counter_directory, held_sources
from abacus.signals.events.decide.source import parse_source
from abacus.signals.events.kind import SOURCES, Reserved
from tests.signals.counters import weather
from tests.signals.counters.weather import NOW, WEATHER_DOCUMENT, draft
from tests.support.soon import soon

BUILT_IN = [weather.SOURCES["sky"]]
SNOW = draft(id=7, name="snow", template="snow:{city_id}", on=["snow.flake"])


async def publish_weather(pool: Pool, **news: object) -> None:
    source = parse_source({**WEATHER_DOCUMENT, **news})
    await DocumentStore(pool, SOURCES).publish([source], Reserved([], "events").look, by="ann", now=NOW)


async def test_the_catalogue_stays_the_same_until_something_is_published(pool: Pool) -> None:
    await publish_weather(pool)
    directory = counter_directory(pool, BUILT_IN)
    with pytest.raises(Unavailable, match="counter definitions unavailable: not read yet"):
        directory.value()
    await directory.refresh()
    first = directory.value()
    assert (first.definitions, set(first.sources)) == ((), {"weather", "sky"})
    await directory.refresh()
    assert directory.value() is first
    store = DocumentStore(pool, COUNTERS)
    await store.publish([draft(), SNOW], held_sources(BUILT_IN), by="ann", now=NOW)
    await directory.refresh()
    rain, snow = directory.value().definitions
    assert (rain, snow) == (draft().published(1, NOW), SNOW.published(1, NOW))
    await store.withdraw("count_rain_drops", by="ann", reason="over", now=NOW)
    await directory.refresh()
    after = directory.value()
    assert after.types() == {"weather": {"snow.flake"}}
    assert after.definitions[1] is snow
    assert after.sources["weather"] is first.sources["weather"]


@pytest.fixture
async def directory(pool: Pool, database_url: str) -> AsyncIterator[DocumentDirectory[Catalog]]:
    """It reads when something is announced, and not by itself."""
    await publish_weather(pool)
    announcements = Announcements(lambda: open_connection(database_url))
    directory = counter_directory(pool, BUILT_IN, Cadence(refresh_every_s=3600))
    for table in directory.tables:
        announcements.call(directory.wake, on=table)
    keeping = [asyncio.create_task(each) for each in (announcements.keep_listening(), directory.keep_fresh())]
    await soon(lambda: directory.age_s < 5)
    yield directory
    for each in keeping:
        each.cancel()
    await asyncio.gather(*keeping, return_exceptions=True)


async def test_what_is_published_or_retired_is_in_force_within_a_second(
    directory: DocumentDirectory[Catalog], pool: Pool
) -> None:
    store = DocumentStore(pool, COUNTERS)
    began = time.monotonic()
    await store.publish([draft()], held_sources(BUILT_IN), by="ann", now=NOW)
    await soon(lambda: directory.value().types() == {"weather": {"rain.drop"}})
    assert time.monotonic() - began < 1
    began = time.monotonic()
    await store.withdraw("count_rain_drops", by="ann", reason="over", now=NOW)
    await soon(lambda: not directory.value().types())
    assert time.monotonic() - began < 1
    began = time.monotonic()
    await publish_weather(pool, topic="rain")
    await soon(lambda: directory.value().sources["weather"].topic == "rain")
    assert time.monotonic() - began < 1
