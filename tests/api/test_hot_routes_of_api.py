"""The hot routes of the API answer as the framework does, which has the same requests when they have a query."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from prometheus_client import REGISTRY

from tests.support.house import House
from tests.support.shop import GRANT, MEAL, award, register, shop

pytestmark = pytest.mark.once

JSON = "application/json"
BY_THE_FRAMEWORK = "?by=the-framework"
HOLD = "3f0c1f5e-0d0b-5d0e-9a41-6f1c0c4e7b0f"
VARIES = {"award_id", "id", "seq", "key", "occurred_at", "balance", "balance_after", "available", "posted_at"}
VARIES |= {"explanation", "hold_id", "until", "request_id", "quoted_for"}


@pytest.fixture
async def acme(house: House) -> AsyncIterator[httpx.AsyncClient]:
    """A partner; bob has points."""
    async with shop(house, "awarder") as it:
        caller = await it.caller(await register(house))
        await award(caller, "start", GRANT, Prefer="wait=10")
        yield caller


def lasting(document: Any) -> Any:
    """What two requests that differ in nothing but their key are both told."""
    if isinstance(document, dict):
        return {
            name: lasting(value) for name, value in document.items() if name not in VARIES and name != "explanation"
        }
    return document


def seen(answer: httpx.Response) -> tuple[int, Any, set[str], dict[str, str]]:
    headers = {name: answer.headers.get(name, "") for name in ("content-type", "cache-control", "ratelimit-limit")}
    return answer.status_code, lasting(answer.json()), set(answer.headers), headers


async def both(caller: httpx.AsyncClient, method: str, path: str, **asked: Any) -> list[httpx.Response]:
    answers = []
    for way, query in (("hot", ""), ("framework", BY_THE_FRAMEWORK)):
        headers = {name: f"{value}-{way}" if name == "Idempotency-Key" else value for name, value in asked["headers"]}
        answers.append(await caller.request(method, path + query, content=asked["content"], headers=headers))
    return answers


KEYED = [("Idempotency-Key", "k"), ("content-type", JSON)]
PLAIN = [("content-type", JSON)]


@pytest.mark.parametrize(
    ("path", "content", "headers", "status"),
    [
        ("awards", GRANT, KEYED, 202),
        ("awards", GRANT, [*KEYED, ("Prefer", "wait=10")], 201),
        ("awards", {"member_id": "bob", "transaction": MEAL | {"transaction_id": None}}, KEYED, 422),
        ("awards", GRANT, PLAIN, 400),
        ("awards", GRANT | {"points": 0}, KEYED, 422),
        ("awards", GRANT | {"country": "XX"}, KEYED, 422),
        ("awards", b"{", KEYED, 400),
        ("awards", b'{"member_id": "bob", "member_id": "eve"}', KEYED, 422),
        ("awards", b"", KEYED, 422),
        ("awards", GRANT, [("Idempotency-Key", "k"), ("content-type", "text/plain")], 415),
        ("quotes", GRANT, PLAIN, 200),
        ("quotes", {"member_id": "bob", "transaction": MEAL}, PLAIN, 200),
        ("quotes", {"member_id": "bob"}, PLAIN, 422),
        ("quotes", b"[]", PLAIN, 422),
        ("members/bob/spend", {"points": 5}, KEYED, 201),
        ("members/bob/spend", {"points": 5}, PLAIN, 400),
        ("members/bob/spend", {"points": 5_000}, KEYED, 409),
        ("members/bob/spend", {"points": "5"}, KEYED, 422),
        ("members/nobody/spend", {"points": 5}, KEYED, 404),
        ("members/b%2Fob/spend", {"points": 5}, KEYED, 404),
        ("members/%20/spend", {"points": 5}, KEYED, 422),
        ("members/bob/holds", {"points": 5, "expires_in": 60}, KEYED, 201),
        ("members/bob/holds", {"points": 5, "expires_in": 0}, KEYED, 422),
        (f"members/bob/holds/{HOLD}/capture", b"", PLAIN, 404),
        ("members/bob/holds/none/capture", b"", PLAIN, 422),
        (f"members/bob/holds/{HOLD}/release", b"", PLAIN, 404),
        ("movements", {"movements": [{"kind": "spend"}]}, PLAIN, 200),
        ("movements", {"movements": []}, PLAIN, 422),
    ],
)
async def test_what_is_sent_is_answered_the_same_both_ways(
    acme: httpx.AsyncClient, path: str, content: Any, headers: list[tuple[str, str]], status: int
) -> None:
    body = content if isinstance(content, bytes) else httpx.Request("POST", "http://x", json=content).content
    hot, framework = await both(acme, "POST", f"/v1/{path}", content=body, headers=headers)
    assert hot.status_code == status, hot.text
    assert seen(hot) == seen(framework)


@pytest.mark.parametrize("path", ["members/bob", "members/nobody", "members/b%2Fob", "members/%20"])
async def test_a_member_is_shown_the_same_both_ways(acme: httpx.AsyncClient, path: str) -> None:
    hot = await acme.get(f"/v1/{path}")
    framework = await acme.get(f"/v1/{path}?as_of=2026-01-01T00:00:00Z")
    assert (hot.status_code, set(hot.headers)) == (framework.status_code, set(framework.headers))
    if hot.status_code != 200:
        assert lasting(hot.json()) == lasting(framework.json())


@pytest.mark.parametrize(
    ("asked", "allowed"),
    [
        ("GET awards", "POST"),
        ("PUT awards", "POST"),
        ("PUT members/bob/spend", "POST"),
        ("PUT members/bob/holds", "GET, POST"),
        ("DELETE members/bob", "GET"),
    ],
)
async def test_another_method_is_refused_with_those_there_are(
    acme: httpx.AsyncClient, asked: str, allowed: str
) -> None:
    method, path = asked.split()
    answer = await acme.request(method, f"/v1/{path}")
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)


async def test_requests_are_counted_by_the_route_of_the_document(acme: httpx.AsyncClient) -> None:
    await acme.post("/v1/members/bob/spend", json={"points": 1}, headers={"Idempotency-Key": "s"})
    await acme.get("/v1/members/bob")
    for route, status in (("/v1/members/{member_id:path}/spend", "201"), ("/v1/members/{member_id:path}", "200")):
        assert REGISTRY.get_sample_value("abacus_api_requests_total", {"route": route, "status": status})
