"""Events over HTTP: the broker has what was accepted, and what was not is named with its place."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx
import pytest
from aiokafka import AIOKafkaConsumer

from abacus.core.clock import SystemClock
from abacus.documents.store import DocumentStore
from abacus.intake.partners.sandbox import new_test_access
from abacus.intake.partners.store import PartnerStore
from abacus.platform.metrics import total
from abacus.platform.migrations import make_sandbox
from abacus.platform.postgres import open_pool
from abacus.platform.sandbox import SESSION
from abacus.signals.events.decide.source import Source, parse_source
from abacus.signals.events.kind import SOURCES, Reserved
from abacus.signals.events.metrics import EVENTS_POSTED
from abacus.signals.events.wiring import built_in_sources
from tests.support.house import House, until
from tests.support.logged import limits_logged
from tests.support.ports import free_port
from tests.support.problems import kind
from tests.support.shop import award, register, shop
from tests.support.staff import hire

APP: Final = parse_source(
    {
        "source": "app",
        "senders": ["acme"],
        "types": {"store.visited": {"store_id": "text", "minutes": "integer", "spent": "decimal", "tags": "texts"}},
    }
)
VISIT: Final[Mapping[str, Any]] = {
    "source": "app",
    "type": "store.visited",
    "id": "visit-1",
    "member_id": "bob",
    "country": "SG",
    "occurred_at": "2026-01-10T12:30:00+08:00",
    "var": {"store_id": "s-7", "minutes": 20, "spent": 12.5, "tags": ["mall"]},
}
PUBLISHED: Final = {
    **VISIT,
    "occurred_at": "2026-01-10T04:30:00+00:00",
    "var": {"store_id": "s-7", "minutes": 20, "spent": "12.5", "tags": ["mall"]},
}


async def publish(house: House, source: Source = APP) -> None:
    await DocumentStore(house.pool, SOURCES).publish(
        [source],
        Reserved(built_in_sources(house.settings), house.settings.events_topic).look,
        by="person:ann",
        now=SystemClock().now(),
    )


@asynccontextmanager
async def open_to(house: House, *partners: str, **changes: Any) -> AsyncIterator[list[httpx.AsyncClient]]:
    """Callers, one for each partner, of an API whose settings may be changed; the source is published."""
    await publish(house)
    keys = [await register(house, partner) for partner in partners]
    async with shop(house, settings=house.settings.model_copy(update=changes)) as opened:
        yield [await opened.caller(key) for key in keys]


async def on_topic(house: House, count: int) -> list[tuple[bytes, dict[str, Any]]]:
    """At least so many messages of the events topic: key and value of each."""
    consumer = AIOKafkaConsumer(
        house.settings.events_topic,
        bootstrap_servers=house.settings.kafka_bootstrap,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    messages: list[tuple[bytes, dict[str, Any]]] = []

    async def enough() -> bool:
        polled = await consumer.getmany(timeout_ms=100)
        messages.extend((m.key or b"", json.loads(m.value or b"")) for ms in polled.values() for m in ms)
        return len(messages) >= count

    await consumer.start()
    try:
        await until(enough)
        return messages
    finally:
        await consumer.stop()


async def test_an_accepted_event_is_with_the_broker(house: House) -> None:
    async with open_to(house, "acme") as (acme,):
        answer = await acme.post("/v1/events", json=VISIT)
        assert (answer.status_code, answer.json()) == (202, {"key": "app:store.visited:visit-1"})
        again = await acme.post("/v1/events", json=VISIT)
        assert (again.status_code, again.json()) == (202, answer.json())
        assert await on_topic(house, 2) == [(b"bob", PUBLISHED)] * 2


@pytest.mark.once  # no service sees them
@pytest.mark.parametrize(
    ("change", "status", "problem", "pointer"),
    [
        ({"source": "nobody"}, 403, "source-not-allowed", None),
        ({"source": "points", "type": "abacus.points.earned.v1"}, 403, "source-not-allowed", None),
        ({"source": "No Body"}, 422, "invalid", "/source"),
        ({"type": "store.visit"}, 422, "invalid", "/type"),
        ({"id": ""}, 422, "invalid", "/id"),
        ({"id": 7}, 422, "invalid", "/id"),
        ({"member_id": " bob"}, 422, "invalid", "/member_id"),
        ({"member_id": "=bob"}, 422, "invalid", "/member_id"),
        ({"member_id": "bo\u200bb"}, 422, "invalid", "/member_id"),
        ({"occurred_at": "2026-01-10"}, 422, "invalid", "/occurred_at"),
        ({"occurred_at": "2099-01-10T00:00:00Z"}, 422, "in-the-future", "/occurred_at"),
        ({"var": {"store": "s-7"}}, 422, "invalid", "/var/store"),
        ({"var": {"minutes": "20"}}, 422, "invalid", "/var/minutes"),
        ({"var": {"minutes": 2**63}}, 422, "invalid", "/var/minutes"),
        ({"var": {"spent": 1e300}}, 422, "invalid", "/var/spent"),
        ({"var": {"tags": "mall"}}, 422, "invalid", "/var/tags"),
        ({"var": []}, 422, "invalid", "/var"),
        ({"points": 5}, 422, "invalid", "/points"),
    ],
)
async def test_what_is_refused_is_named_with_its_place(
    acme: httpx.AsyncClient, change: dict[str, Any], status: int, problem: str, pointer: str | None
) -> None:
    answer = await acme.post("/v1/events", json={**VISIT, **change})
    assert (answer.status_code, kind(answer)) == (status, problem)
    if pointer is not None:
        assert answer.json()["errors"][0]["pointer"] == pointer


@pytest.fixture
async def acme(house: House) -> AsyncIterator[httpx.AsyncClient]:
    async with open_to(house, "acme") as (caller,):
        yield caller


async def test_only_the_partners_that_the_source_names_may_post(house: House) -> None:
    async with open_to(house, "sky") as (sky,):
        answer = await sky.post("/v1/events", json=VISIT)
        assert (answer.status_code, kind(answer)) == (403, "source-not-allowed")
        batch = await sky.post("/v1/events/batch", json={"events": [VISIT]})
        assert [each["problem"]["type"] for each in batch.json()["results"]] == ["/problems/source-not-allowed"]
        person = {"Authorization": f"Bearer {await hire(house.pool, 'ann', 'admin')}"}
        answer = await sky.post("/v1/events", json=VISIT, headers=person)
        assert (answer.status_code, kind(answer)) == (403, "partner-needed")


async def test_a_source_that_was_published_a_moment_ago_is_known(house: House) -> None:
    key = await register(house)
    async with shop(house) as opened:
        caller = await opened.caller(key)
        assert (await caller.post("/v1/events", json=VISIT)).status_code == 403
        await publish(house)
        await asyncio.sleep(0.1)  # readings are that far apart
        assert (await caller.post("/v1/events", json=VISIT)).status_code == 202


async def test_each_event_of_a_batch_has_its_outcome(house: House) -> None:
    async with open_to(house, "acme") as (acme,):
        batch = [{**VISIT, "id": "visit-1"}, {**VISIT, "var": {"minutes": True}}, 7, {**VISIT, "id": "visit-2"}]
        answer = await acme.post("/v1/events/batch", json={"events": batch})
        assert answer.status_code == 202
        first, second, third, fourth = answer.json()["results"]
        assert first == {"outcome": "accepted", "key": "app:store.visited:visit-1"}
        assert second["outcome"] == third["outcome"] == "refused"
        assert second["problem"]["errors"][0]["pointer"] == "/events/1/var/minutes"
        assert third["problem"]["type"] == "/problems/invalid"
        assert fourth["key"] == "app:store.visited:visit-2"
        assert [value["id"] for _, value in await on_topic(house, 2)] == ["visit-1", "visit-2"]


@pytest.mark.once
@pytest.mark.parametrize("events", [[], [VISIT] * 1001, "x", None])
async def test_a_batch_has_up_to_a_thousand_events(acme: httpx.AsyncClient, events: Any) -> None:
    answer = await acme.post("/v1/events/batch", json={"events": events})
    assert (answer.status_code, kind(answer)) == (422, "invalid")


async def test_many_callers_at_once_lose_nothing(house: House) -> None:
    async with open_to(house, "acme") as (acme,):
        single = [acme.post("/v1/events", json={**VISIT, "id": f"one-{n}", "member_id": f"m{n}"}) for n in range(60)]
        batches = [
            acme.post("/v1/events/batch", json={"events": [{**VISIT, "id": f"{b}-{n}"} for n in range(200)]})
            for b in range(5)
        ]
        answers = await asyncio.gather(*single, *batches)
        assert {answer.status_code for answer in answers} == {202}
        keys = {answer.json()["key"] for answer in answers[:60]}
        keys |= {each["key"] for answer in answers[60:] for each in answer.json()["results"]}
        assert len(keys) == 1060
        told = await on_topic(house, 1060)
        assert {f"app:store.visited:{value['id']}" for _, value in told} == keys


async def test_without_a_broker_the_api_serves_all_the_rest(house: House) -> None:
    async with open_to(house, "acme", kafka_bootstrap=None) as (acme,):
        assert "ABACUS_KAFKA_BOOTSTRAP is not set" in await told_to_come_again(acme, "/v1/events", VISIT)
        assert (await acme.get("/readyz")).status_code == 200
        assert (await award(acme, "k-1")).status_code == 202
        assert (await acme.post("/v1/events", json={**VISIT, "type": "x"})).status_code == 422


async def test_while_the_broker_is_away_callers_are_told_to_come_again(house: House) -> None:
    async with open_to(house, "acme", kafka_bootstrap=f"127.0.0.1:{free_port()}") as (acme,):
        batch = {"events": [VISIT, {**VISIT, "id": "visit-2"}, 7]}
        detail = await told_to_come_again(acme, "/v1/events/batch", batch)
        assert detail.startswith("Kafka unavailable")
        assert (await award(acme, "k-1")).status_code == 202


async def told_to_come_again(caller: httpx.AsyncClient, path: str, body: Mapping[str, Any]) -> str:
    """The detail of the answer."""
    answer = await caller.post(path, json=body)
    assert (answer.status_code, kind(answer)) == (503, "unavailable")
    assert int(answer.headers["retry-after"]) > 0
    return str(answer.json()["detail"])


async def test_events_of_test_keys_are_checked_and_published_nowhere(house: House) -> None:
    await make_sandbox(house.settings.required("database_url"))
    await publish(house)
    await register(house)
    sandbox = await open_pool(house.settings.required("database_url"), size=1, settings=SESSION)
    clock = SystemClock()
    try:
        live, own = PartnerStore(house.pool, clock), PartnerStore(sandbox, clock)
        key, _ = await new_test_access(live, own, "acme", also=limits_logged("acme"))
    finally:
        await sandbox.close()
    before = total(EVENTS_POSTED)
    async with shop(house, settings=house.settings.model_copy(update={"kafka_bootstrap": None})) as opened:
        acme = await opened.caller(key)

        async def is_known() -> bool:  # the partners of the sandbox are read beside the start
            return (await acme.get("/v1/members/bob")).status_code != 503

        await until(is_known)
        answer = await acme.post("/v1/events", json=VISIT)
        assert (answer.status_code, answer.headers["abacus-mode"]) == (202, "test")
        assert answer.json() == {"key": "app:store.visited:visit-1"}
        assert (await acme.post("/v1/events", json={**VISIT, "type": "x"})).status_code == 422
        assert (await acme.post("/v1/events/batch", json={"events": [VISIT]})).status_code == 202
    assert total(EVENTS_POSTED) == before
