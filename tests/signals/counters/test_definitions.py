"""Definitions are published, retired and read on a real Postgres."""

import asyncio
import json
from collections.abc import Sequence
from typing import TypeAlias

import asyncpg
import pytest

from abacus.core.errors import Refused, Unavailable
from abacus.core.fields import DocumentFaults
from abacus.documents.directory import read_moment
from abacus.documents.store import DocumentStore
from abacus.documents.types import Withdrawal
from abacus.platform.postgres import Connection, Pool
from abacus.signals.counters.decide.definition import Definition, to_document
from abacus.signals.counters.decide.publications import CounterPublications
from abacus.signals.counters.kind import COUNTERS, held_sources
from abacus.signals.events.decide.source import Source, parse_source
from abacus.signals.events.kind import SOURCES, Reserved
from tests.signals.counters import weather
from tests.signals.counters.weather import NOW, WEATHER_DOCUMENT, draft
from tests.support.waiting import waiting

pytestmark = pytest.mark.once  # its tables lie on one server, with slices and without

Definitions: TypeAlias = DocumentStore[Definition, CounterPublications]

SNOW = draft(id=7, name="snow", template="snow:{city_id}", on=["snow.flake"])
RULE = {"operator": "gt", "lhs": "var.amount", "rhs": "1.50"}


@pytest.fixture
async def store(pool: Pool) -> Definitions:
    for source in weather.SOURCES.values():
        await publish_source(pool, source)
    return DocumentStore(pool, COUNTERS)


async def publish_source(pool: Pool, source: Source) -> None:
    await DocumentStore(pool, SOURCES).publish([source], Reserved([], "events").look, by="ann", now=NOW)


async def publish(store: Definitions, *drafts: Definition) -> list[str]:
    return [each.document.label for each in await store.publish(drafts, held_sources([]), by="ann", now=NOW)]


async def labels(store: Definitions) -> list[str]:
    return [record.document.label for record in await store.latest()]


async def test_versions_count_from_one_for_each_definition(store: Definitions) -> None:
    assert await publish(store, draft(), SNOW) == ["count_rain_drops@1", "snow@1"]
    assert await publish(store, draft(when=RULE)) == ["count_rain_drops@2"]
    assert await labels(store) == ["snow@1", "count_rain_drops@2"]
    assert [record.document for record in await store.history(34)] == [
        draft().published(1, NOW),
        draft(when=RULE).published(2, NOW),
    ]


async def test_what_is_published_comes_back_equal_with_its_sources(store: Definitions, pool: Pool) -> None:
    drafts = [SNOW, draft(when=RULE, add="var.amount", timezone="Asia/Kathmandu", keep={"hours": "0"})]
    await publish(store, *drafts)
    moment = await read_moment(pool, COUNTERS, SOURCES)
    definitions, sources = moment.of(COUNTERS), moment.of(SOURCES)
    assert definitions == [each.published(1, NOW) for each in drafts]
    assert {source.name: source for source in sources} == weather.SOURCES
    again = await read_moment(pool, COUNTERS, SOURCES, before=moment)
    assert all(one is other for one, other in zip(definitions, again.of(COUNTERS), strict=True))
    assert all(one is other for one, other in zip(sources, again.of(SOURCES), strict=True))


@pytest.mark.parametrize(
    ("drafts", "fault"),
    [
        ([SNOW, draft(id=8, name="hail")], "template: hail begins with 'rain_drops:city:' and count_rain_drops with"),
        ([SNOW, draft(name="rain")], "name: 34 is count_rain_drops, and stays so"),
        ([SNOW, draft(id=8, name="snow", template="s:{city_id}")], "name: snow is the name of 7 already"),
    ],
)
async def test_all_are_published_or_none(store: Definitions, drafts: Sequence[Definition], fault: str) -> None:
    await publish(store, draft())
    with pytest.raises(DocumentFaults) as caught:
        await publish(store, *drafts)
    assert str(caught.value).startswith(fault)
    assert await labels(store) == ["count_rain_drops@1"]


async def test_a_draft_is_judged_by_the_sources_as_they_are_when_it_is_published(
    store: Definitions, pool: Pool
) -> None:
    await publish_source(pool, parse_source({**WEATHER_DOCUMENT, "types": {"rain.drop": {"city": "text"}}}))
    with pytest.raises(DocumentFaults) as caught:
        await publish(store, draft())
    assert str(caught.value) == ("template: {city_id}: weather/rain.drop has no variable 'city_id'; did you mean city?")


async def test_a_definition_that_changes_nothing_is_refused(store: Definitions) -> None:
    await publish(store, draft())
    with pytest.raises(Refused, match="count_rain_drops@1 is this definition already: nothing to publish"):
        await publish(store, draft(keep={"days": "730d"}))


async def test_a_retired_definition_counts_no_more_until_a_new_version_is_published(
    store: Definitions,
) -> None:
    await publish(store, draft())
    with pytest.raises(Refused, match=r"there is no counter 'rain'; `abacus counters list` prints all"):
        await store.withdraw("rain", by="bob", reason="over", now=NOW)
    retired = (await store.withdraw("count_rain_drops", by="bob", reason="over", now=NOW)).document
    assert retired.retired
    (record,) = await store.latest()
    assert (record.document, record.version.withdrawal) == (retired, Withdrawal(NOW, "bob", "over"))
    known = {"34@1": draft().published(1, NOW)}
    assert [record.document for record in await store.latest(known)] == [retired]
    with pytest.raises(Refused, match=r"count_rain_drops@1 was retired by bob at 2026-03-01T12:00:00\+00:00 already"):
        await store.withdraw("count_rain_drops", by="bob", reason="over", now=NOW)
    assert await publish(store, draft()) == ["count_rain_drops@2"]
    assert [record.document.retired for record in await store.history(34)] == [True, False]


async def test_what_belongs_to_a_change_is_written_with_it_or_nothing_is(
    store: Definitions,
) -> None:
    async def fails(_: Connection) -> None:
        raise Refused("no")

    with pytest.raises(Refused, match="no"):
        await store.publish([draft()], held_sources([]), by="ann", now=NOW, also=fails)
    assert await labels(store) == []
    await publish(store, draft())
    with pytest.raises(Refused, match="no"):
        await store.withdraw("count_rain_drops", by="ann", reason="over", now=NOW, also=fails)
    assert not (await store.latest())[0].document.retired


async def test_of_two_at_once_the_second_sees_the_first(store: Definitions, pool: Pool) -> None:
    """The first is held before its commit; the second waits for it, and then finds its beginning taken."""
    first_is_in, go_on = asyncio.Event(), asyncio.Event()

    async def held(_: Connection) -> None:
        first_is_in.set()
        await go_on.wait()

    first = asyncio.create_task(store.publish([draft()], held_sources([]), by="ann", now=NOW, also=held))
    await first_is_in.wait()
    second = asyncio.create_task(publish(store, draft(id=8, name="hail")))
    source = asyncio.create_task(publish_source(pool, parse_source({**WEATHER_DOCUMENT, "topic": "rain"})))
    await waiting(pool, second, source)
    go_on.set()
    await first
    with pytest.raises(DocumentFaults, match="hail begins with 'rain_drops:city:'"):
        await second
    await source


@pytest.mark.parametrize("table", ["counter_definition", "counter_retirement"])
@pytest.mark.parametrize("change", ["update {} set version = 3", "delete from {}", "truncate {}"])
async def test_nothing_of_it_is_ever_changed(store: Definitions, pool: Pool, table: str, change: str) -> None:
    await publish(store, draft())
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await pool.execute(change.format(table))


@pytest.mark.parametrize(
    ("news", "fault"),
    [
        ({"window": "sliding"}, "window: unknown"),
        ({"when": {**RULE, "weight": 3}}, "when: not a rule that this version knows"),
        ({"when": {"operator": "not", "conditions": ["night"]}}, r"when.conditions\[0\]: not a rule that this version"),
        ({"when": {**RULE, "operator": "like"}}, "when.operator: 'like' is not known to this version"),
    ],
)
async def test_a_definition_of_a_newer_abacus_has_to_wait_for_the_upgrade(
    store: Definitions, pool: Pool, news: dict[str, object], fault: str
) -> None:
    await pool.execute(
        "insert into counter_definition (definition_id, version, document, published_at, published_by)"
        " values (34, 1, $1, now(), 'ann')",
        json.dumps({**to_document(draft()), **news}),
    )
    with pytest.raises(Unavailable, match=f"this version of Abacus cannot read 34@1: {fault}"):
        await store.latest()
