"""Publishing sources on a real Postgres, and the copy that each process keeps of them."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Final

import asyncpg
import pytest

from abacus.core.errors import Refused, Unavailable
from abacus.core.fields import DocumentFaults
from abacus.documents.store import DocumentStore
from abacus.documents.types import Record, Version
from abacus.platform.announcements import Announcements
from abacus.platform.fresh_copy import Cadence
from abacus.platform.postgres import Pool, open_connection
from abacus.signals.events.decide.builtin import built_in
from abacus.signals.events.decide.source import Source
from abacus.signals.events.kind import SOURCES, Reserved, source_directory
from tests.signals.events.weather import EVENTS_TOPIC, WEATHER, source
from tests.support.soon import soon

pytestmark = pytest.mark.once  # its tables lie on one server, with slices and without

NOW: Final = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
BUILT_IN: Final = built_in(transactions_topic="t", points_topic="p", tiers_topic="r")


async def publish(pool: Pool, draft: Source, by: str = "person:ann") -> Source:
    (record,) = await DocumentStore(pool, SOURCES).publish(
        [draft], Reserved(BUILT_IN, EVENTS_TOPIC).look, by=by, now=NOW
    )
    return record.document


async def test_versions_count_from_one_in_each_source(pool: Pool) -> None:
    store = DocumentStore(pool, SOURCES)
    assert await store.latest() == []
    drafts = [WEATHER, source("app"), source("weather", topic="rain.v2", substream=True)]
    published = [await publish(pool, draft) for draft in drafts]
    assert [each.label for each in published] == ["weather@1", "app@1", "weather@2"]
    assert published == [draft.published(each.version) for draft, each in zip(drafts, published, strict=True)]
    assert await store.latest() == [
        Record(each, Version(each.name, each.version, NOW, "person:ann", None, {})) for each in published[1:]
    ]
    assert [record.document.label for record in await store.history()] == ["app@1", "weather@1", "weather@2"]
    assert [record.document.label for record in await store.history("weather")] == ["weather@1", "weather@2"]
    assert await store.history("nobody") == []


async def test_a_version_that_changes_nothing_is_refused(pool: Pool) -> None:
    await publish(pool, WEATHER)
    with pytest.raises(Refused, match="weather@1 is this source already: nothing to publish"):
        await publish(pool, WEATHER)
    await publish(pool, source("weather", substream=True))
    assert (await publish(pool, WEATHER)).label == "weather@3"


async def test_a_source_fits_beside_the_others_or_is_not_published(pool: Pool) -> None:
    await publish(pool, source("app", topic="shared", types={"visit": {}}))
    with pytest.raises(DocumentFaults, match=r"types\.visit: app takes it from shared already"):
        await publish(pool, source("web", topic="shared", types={"visit": {}}))
    with pytest.raises(DocumentFaults, match=r"types\.transaction\.completed: transactions takes it from t already"):
        await publish(pool, source("web", topic="t", types={"transaction.completed": {}}))
    await publish(pool, source("app", topic="other", types={"visit": {}}))
    assert (await publish(pool, source("web", topic="shared", types={"visit": {}}))).label == "web@1"


async def test_of_two_that_take_the_same_type_at_once_one_is_published(pool: Pool) -> None:
    drafts = [source(name, topic="shared", types={"visit": {}}) for name in ("a", "b", "c")]
    outcomes = await asyncio.gather(*(publish(pool, draft) for draft in drafts), return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["DocumentFaults", "DocumentFaults", "Source"]


@pytest.mark.parametrize("change", ["update event_source set version = 7", "delete from event_source"])
async def test_a_published_source_never_changes(pool: Pool, database_url: str, change: str) -> None:
    await publish(pool, WEATHER)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await pool.execute(change)
    owner = await asyncpg.connect(database_url)
    with pytest.raises(asyncpg.PostgresError, match="event_source is append-only"):
        await owner.execute(change)
    await owner.close()


async def test_a_source_of_a_newer_version_of_abacus_makes_readers_wait(pool: Pool) -> None:
    await publish(pool, WEATHER)
    await pool.execute(
        "insert into event_source values ('app', 1, $1, $2, 'ann')", '{"source": "app", "smell": "new"}', NOW
    )
    with pytest.raises(Unavailable, match=r"this version of Abacus cannot read app@1: types: missing"):
        await DocumentStore(pool, SOURCES).latest()


async def test_the_sources_in_force_are_the_latest_and_those_from_the_start(pool: Pool) -> None:
    directory = source_directory(pool, BUILT_IN)
    with pytest.raises(Unavailable, match="event sources"):
        directory.value()
    await directory.refresh()
    assert set(directory.value()) == {"transactions", "points", "tiers", "places"}
    await publish(pool, WEATHER)
    await publish(pool, source("weather", substream=True))
    await directory.refresh()
    assert directory.value()["weather"] == source("weather", substream=True).published(2)


async def test_the_sources_stay_the_same_objects_while_nothing_is_published(pool: Pool) -> None:
    await publish(pool, WEATHER)
    directory = source_directory(pool, BUILT_IN)
    await directory.refresh()
    before, weather = directory.value(), directory.value()["weather"]
    await directory.refresh()
    assert directory.value() is before
    await publish(pool, source("app"))
    await directory.refresh()
    assert directory.value() is not before
    assert directory.value()["weather"] is weather


async def test_a_published_source_is_in_force_within_a_second(pool: Pool, database_url: str) -> None:
    """Nothing but the announcement has the directory read."""
    directory = source_directory(pool, BUILT_IN, Cadence(refresh_every_s=3600))
    announcements = Announcements(lambda: open_connection(database_url))
    (table,) = directory.tables
    announcements.call(directory.wake, on=table)
    tasks = [asyncio.create_task(work()) for work in (directory.keep_fresh, announcements.keep_listening)]
    await soon(lambda: directory.age_s < 5)
    await asyncio.sleep(0.2)  # the first announcement is that of the connection
    began = time.monotonic()
    await publish(pool, WEATHER)
    await soon(lambda: "weather" in directory.value())
    assert time.monotonic() - began < 1
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
