"""Each process has the counters in force, with the sources of the same moment."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping

import pytest

from abacus.core.errors import Unavailable
from abacus.platform.announcements import Announced, Announcements
from abacus.platform.fresh_copy import Timing
from abacus.platform.postgres import Pool, open_connection
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.directory import CounterDirectory
from abacus.signals.counters.kind import DefinitionStore, Published, held_sources
from abacus.signals.events.decide.source import Source, parse_source
from abacus.signals.events.kind import Reserved, SourceStore
from tests.signals.counters.weather import NOW, SOURCES, WEATHER_DOCUMENT, counter, draft
from tests.support.soon import soon

BUILT_IN = [SOURCES["sky"]]
SNOW = counter(id=7, name="snow", template="snow:{city_id}", on=["snow.flake"])


class Shelf:
    """A store in memory, which can be down and remembers what its readers know."""

    def __init__(self) -> None:
        self.definitions: list[Definition] = []
        self.known: list[list[str]] = []
        self.down = False

    async def published(self, known: Mapping[str, Definition], known_sources: Mapping[str, Source]) -> Published:
        self.known.append([*known, *known_sources])
        if self.down:
            raise Unavailable("database", "connection refused")
        return Published(list(self.definitions), [SOURCES["weather"]])


async def test_the_catalogue_stays_the_same_until_something_is_published() -> None:
    shelf = Shelf()
    directory = CounterDirectory(shelf.published, BUILT_IN)
    with pytest.raises(Unavailable, match="counter definitions unavailable: not read yet"):
        directory.catalog()
    await directory.refresh()
    first = directory.catalog()
    assert (first.definitions, set(first.sources)) == ((), {"weather", "sky"})
    await directory.refresh()
    assert directory.catalog() is first
    shelf.definitions = [counter(), SNOW]
    await directory.refresh()
    assert directory.catalog().definitions == (counter(), SNOW)
    shelf.definitions = [counter().published(1, NOW, NOW), SNOW]
    await directory.refresh()
    assert directory.catalog().types() == {"weather": {"snow.flake"}}
    assert shelf.known == [[], ["weather@1"], ["weather@1"], ["34@1", "7@1", "weather@1"]]


async def test_the_last_catalogue_is_served_while_the_database_is_away() -> None:
    shelf = Shelf()
    shelf.definitions = [counter()]
    directory = CounterDirectory(shelf.published, BUILT_IN)
    await directory.refresh()
    shelf.down = True
    with pytest.raises(Unavailable):
        await directory.refresh()
    assert directory.catalog().find("rain_drops:city:1") == counter()


@pytest.fixture
async def directory(pool: Pool, database_url: str) -> AsyncIterator[CounterDirectory]:
    """It reads when something is announced, and not by itself."""
    await SourceStore(pool).publish([SOURCES["weather"]], Reserved([], "events").look, by="ann", now=NOW)
    announcements = Announcements(lambda: open_connection(database_url))
    directory = CounterDirectory(DefinitionStore(pool).published, BUILT_IN, Timing(refresh_every_s=3600))
    for announced in (Announced.COUNTERS, Announced.EVENT_SOURCES):
        announcements.call(directory.wake, on=announced)
    keeping = [asyncio.create_task(each) for each in (announcements.keep_listening(), directory.keep_fresh())]
    await soon(lambda: directory.age_s < 5)
    yield directory
    for each in keeping:
        each.cancel()
    await asyncio.gather(*keeping, return_exceptions=True)


async def test_what_is_published_or_retired_is_in_force_within_a_second(
    directory: CounterDirectory, pool: Pool
) -> None:
    store = DefinitionStore(pool)
    began = time.monotonic()
    await store.publish([draft()], held_sources(BUILT_IN), by="ann", now=NOW)
    await soon(lambda: directory.catalog().types() == {"weather": {"rain.drop"}})
    assert time.monotonic() - began < 1
    began = time.monotonic()
    await store.withdraw("count_rain_drops", by="ann", reason="over", now=NOW)
    await soon(lambda: not directory.catalog().types())
    assert time.monotonic() - began < 1
    began = time.monotonic()
    source = parse_source({**WEATHER_DOCUMENT, "topic": "rain"})
    await SourceStore(pool).publish([source], Reserved([], "events").look, by="ann", now=NOW)
    await soon(lambda: directory.catalog().sources["weather"].topic == "rain")
    assert time.monotonic() - began < 1
