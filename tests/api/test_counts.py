"""Lookups of counters over HTTP: the golden cases, errors one by one, and who may ask."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import pytest

from abacus.core.clock import SystemClock
from abacus.intake.partners.decide.partner import TEST_KEY
from abacus.platform.health import Health
from abacus.platform.metrics import total
from abacus.platform.postgres import Pool
from abacus.platform.presence.presence_note import report_of
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.metrics import COUNT_LOOKUPS
from abacus.signals.counters.reading.cache_share import CacheShareStore
from abacus.signals.events.decide.source import Source
from tests.support.cluster import Servers
from tests.support.counters import RAIN, parts_found, publish_counter, publish_weather, save_counts
from tests.support.house import House, until
from tests.support.paths import GOLDEN
from tests.support.problems import kind
from tests.support.proxy import proxied
from tests.support.shop import Shop, count_desk, register
from tests.support.slices import SLICES
from tests.support.staff import hire

pytestmark = pytest.mark.once

CASES: list[dict[str, Any]] = json.loads((GOLDEN / "counters.json").read_text("utf-8"))["cases"]
KEY = "rain_drops:city:111222"
PAST = {"key": KEY, "from": "2024-09-24T22:03:00Z", "to": "2024-09-27T01:20:00Z"}


@dataclass(frozen=True)
class Desk:
    """Counts of rain, and a partner that may read them."""

    pool: Pool
    weather: Source
    rain: Definition
    shop: Shop
    acme: httpx.AsyncClient

    async def ask(self, *queries: Any) -> list[dict[str, Any]]:
        answer = await self.acme.post("/v1/counts", json={"queries": queries})
        assert answer.status_code == 200, answer.text
        results: list[dict[str, Any]] = answer.json()["results"]
        return results


@pytest.fixture
async def weather(pool: Pool) -> Source:
    return await publish_weather(pool)


@pytest.fixture
async def desk(house: House, weather: Source) -> AsyncIterator[Desk]:
    rain = await publish_counter(house.pool, RAIN, weather)
    key = await register(house, may_count=True)
    async with count_desk(house) as opened:
        yield Desk(house.pool, weather, rain, opened, await opened.caller(key))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
async def test_golden(desk: Desk, case: dict[str, Any]) -> None:
    counted = [(grain, begin, count) for grain, rows in case["rows"].items() for begin, count in rows]
    await save_counts(desk.pool, desk.rain, KEY, counted)
    begin, end = case["floored"]
    assert await desk.ask(case["query"]) == [{"key": KEY, "from": begin, "to": end, "count": case["count"]}]


async def test_the_writers_of_a_counter_are_summed(desk: Desk) -> None:
    for writer in range(8):
        await save_counts(desk.pool, desk.rain, KEY, [("days", "2024-09-25T00:00:00Z", 1000 + writer)], writer)
    (result,) = await desk.ask(PAST)
    assert result["count"] == 8028


async def test_amounts_are_decimals(desk: Desk) -> None:
    document = {**RAIN, "id": 7, "name": "litres", "template": "litres:{city_id}", "add": "var.litres", "decimals": 2}
    litres = await publish_counter(desk.pool, document, desk.weather)
    await save_counts(desk.pool, litres, "litres:7", [("days", "2024-09-25T00:00:00Z", -1050)])

    async def counted() -> bool:
        results = await desk.ask({**PAST, "key": "litres:7"}, {**PAST, "key": "litres:8"})
        return [each.get("count") for each in results] == ["-10.50", "0.00"]

    await until(counted, within_s=5)


async def test_each_query_has_its_count_or_its_error(desk: Desk) -> None:
    longest = "k" * 600
    queries = [
        PAST,
        {**PAST, "key": "hail:city:1"},
        {**PAST, "to": PAST["from"], "from": PAST["to"]},
        {**PAST, "from": "yesterday"},
        {**PAST, "from": 1727215430.5},
        {**PAST, "from": True},
        {"key": KEY, "from": 0},
        {**PAST, "key": longest},
        {**PAST, "key": "rain_drops:city:\u0000"},
        {**PAST, "key": 7},
        {**PAST, "from": 0, "to": 1727400000},
        {**PAST, "more": 1},
        "rain",
        {**PAST, "from": 1727215430, "to": 1727215440},
    ]
    results = await desk.ask(*queries)
    assert [
        (each["error"]["type"], each["error"]["status"]) if "error" in each else each["count"] for each in results
    ] == [
        0,
        ("/problems/unknown-key", 404),
        ("/problems/to-before-from", 422),
        *[("/problems/invalid", 422)] * 7,
        ("/problems/beyond-keep", 422),
        *[("/problems/invalid", 422)] * 2,
        0,
    ]
    assert [each["key"] for each in results[6:10]] == [KEY, None, None, None]
    assert results[3]["error"]["errors"] == [
        {
            "pointer": "/queries/3/from",
            "detail": "a time like 2026-01-10T12:30:00+08:00, or a number of seconds since 1970, is needed",
        }
    ]
    assert results[7]["error"]["errors"][0]["pointer"] == "/queries/7/key"
    assert "there is no counter with a key such as 'hail:city:1'" in results[1]["error"]["detail"]


@pytest.mark.parametrize(
    ("body", "status", "problem"),
    [
        ({"queries": []}, 422, "invalid"),
        ({"queries": [PAST] * 101}, 422, "invalid"),
        ({}, 422, "invalid"),
        ({"queries": [PAST], "more": 1}, 422, "invalid"),
        ([], 422, "invalid"),
    ],
)
async def test_a_request_that_is_no_list_of_queries_is_refused(
    desk: Desk, body: Any, status: int, problem: str
) -> None:
    answer = await desk.acme.post("/v1/counts", json=body)
    assert (answer.status_code, kind(answer)) == (status, problem)


async def test_a_hundred_queries_are_answered(desk: Desk) -> None:
    await save_counts(desk.pool, desk.rain, KEY, [("days", "2024-09-25T00:00:00Z", 7)])
    results = await desk.ask(*[{**PAST, "key": f"{KEY}{'' if place % 2 else place}"} for place in range(100)])
    assert [each["count"] for each in results] == [0, 7] * 50


async def test_who_may_read_counters(house: House, desk: Desk) -> None:
    answers = {}
    for name, key in (
        ("a partner that may not", await register(house, "globex")),
        ("a viewer", await hire(house.pool, "ann", "viewer")),
        ("a viewer of one country", await hire(house.pool, "bob", "viewer:SG")),
        ("a test key", TEST_KEY.new().text),
        ("nobody", "abk_live_nobody"),
    ):
        caller = await desk.shop.caller(key)
        answer = await caller.post("/v1/counts", json={"queries": [PAST]})
        answers[name] = answer.status_code, "" if answer.is_success else kind(answer)
    assert answers == {
        "a partner that may not": (403, "counts-not-allowed"),
        "a viewer": (200, ""),
        "a viewer of one country": (403, "role-needed"),
        "a test key": (401, "unauthorized"),
        "nobody": (401, "unauthorized"),
    }


async def test_requests_are_limited_apart_from_those_to_the_api(house: House, desk: Desk) -> None:
    key = await register(house, "globex", may_count=True, requests_per_minute=2)
    caller = await desk.shop.caller(key)
    statuses = [(await caller.post("/v1/counts", json={"queries": [PAST]})).status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    assert await house.pool.fetchval("select id from rate_limit where id like '%globex'") == "counts:partner:globex"


async def test_a_counter_is_known_within_a_second_of_its_publishing(desk: Desk) -> None:
    (unknown,) = await desk.ask({**PAST, "key": "drops_of:7"})
    assert unknown["error"]["status"] == 404
    await publish_counter(
        desk.pool, {**RAIN, "id": 35, "name": "drops", "template": "drops_of:{city_id}"}, desk.weather
    )

    async def known() -> bool:
        (result,) = await desk.ask({**PAST, "key": "drops_of:7"})
        return "error" not in result

    await until(known, within_s=5)


async def test_the_cache_is_switched_on_and_off_while_it_runs(desk: Desk) -> None:
    clock = SystemClock()
    store = CacheShareStore(desk.pool, clock)

    async def comes_from_memory() -> bool:
        before = parts_found()
        await desk.ask(PAST)
        return parts_found() > before

    async def is_read() -> bool:
        return not await comes_from_memory()

    assert not await comes_from_memory()
    assert not await comes_from_memory()
    await store.set(35, by="tests")  # 34 is below
    await until(comes_from_memory, within_s=5)
    noted = report_of(Health(()), {}).caches["counts"]  # for the page of caches
    assert (noted.answers["hit"] > 0, noted.entries, noted.bytes > 0) == (True, 1, True)
    await store.set(34, by="tests")
    await until(is_read, within_s=5)


async def test_what_a_backfill_counts_is_in_the_next_answer(desk: Desk) -> None:
    """Also where lookups have kept that there was nothing."""
    store, quarter = CacheShareStore(desk.pool, SystemClock()), {**PAST, "key": "rain_drops:city:555"}
    await store.set(100, by="tests")

    async def is_kept() -> bool:
        before = parts_found()
        assert [each["count"] for each in await desk.ask(quarter)] == [0]
        return parts_found() > before

    async def is_counted() -> bool:
        return [each["count"] for each in await desk.ask(quarter)] == [7]

    await until(is_kept, within_s=5)
    await save_counts(desk.pool, desk.rain, quarter["key"], [("days", "2024-09-25T00:00:00Z", 7)])
    assert not await is_counted()
    await store.replayed(desk.rain, by="tests")
    await until(is_counted, within_s=5)


async def test_of_a_new_counter_no_answer_is_kept(desk: Desk) -> None:
    await CacheShareStore(desk.pool, SystemClock()).set(100, by="tests")
    document = {**RAIN, "id": 36, "name": "hail", "template": "hail:{city_id}"}
    hail, asked = await publish_counter(desk.pool, document, desk.weather, ago=timedelta(0)), {**PAST, "key": "hail:7"}

    async def is_known() -> bool:
        return [each.get("count") for each in await desk.ask(asked)] == [0]

    await until(is_known, within_s=5)
    await save_counts(desk.pool, hail, "hail:7", [("days", "2024-09-25T00:00:00Z", 7)])
    assert [each["count"] for each in await desk.ask(asked)] == [7]


@pytest.mark.long
async def test_without_its_store_each_lookup_says_so(house: House, weather: Source, servers: Servers) -> None:
    """Slices on several servers are asked there, also while the coordinator is away."""
    rain = await publish_counter(house.pool, RAIN, weather)
    await save_counts(house.pool, rain, KEY, [("days", "2024-09-25T00:00:00Z", 7)])
    await CacheShareStore(house.pool, SystemClock()).set(100, by="tests")
    key = await register(house, may_count=True)
    recent = {"key": KEY, "from": int((SystemClock().now() - timedelta(hours=1)).timestamp()), "to": 2_000_000_000}
    async with (
        proxied(house.settings.required("database_url")) as (proxy, address),
        count_desk(house, house.settings.model_copy(update={"database_url": address})) as opened,
    ):
        acme = await opened.caller(key)

        async def ask() -> dict[str, Any]:
            answer = await acme.post("/v1/counts", json={"queries": [PAST, recent, {**PAST, "key": "hail:city:1"}]})
            assert answer.status_code == 200, answer.text
            document: dict[str, Any] = answer.json()
            return document

        async def warm() -> bool:
            before = parts_found()
            return (await ask())["partial"] is False and parts_found() > before

        await until(warm)
        away = total(COUNT_LOOKUPS, outcome="unavailable")
        await proxy.cut()
        answer = await ask()
        if servers.are_several and SLICES > 1:
            assert [each.get("count") for each in answer["results"]] == [7, 0, None]
            assert (await acme.get("/readyz")).status_code == 200
            return
        assert answer["partial"] is True
        kept, unread, unknown = answer["results"]
        assert kept["count"] == 7  # closed, and kept
        assert (unread["error"]["type"], unread["error"]["status"]) == ("/problems/unavailable", 503)
        assert unknown["error"]["status"] == 404
        assert total(COUNT_LOOKUPS, outcome="unavailable") == away + 1

        async def not_ready() -> bool:
            return (await acme.get("/readyz")).status_code == 503

        async def whole() -> bool:
            return not (await ask())["partial"]

        await until(not_ready)
        await proxy.mend()
        await until(whole)
