"""The API answers bad input with a problem that names the field, never with a 500."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx
import pytest

from abacus.api.metrics import REQUESTS
from abacus.platform.metrics import total
from tests.support.house import House
from tests.support.problems import kind
from tests.support.shop import GRANT, MEAL, award, register, shop

pytestmark = pytest.mark.once

COMPUTED: Final[dict[str, Any]] = {"member_id": "bob", "transaction": MEAL}


def grant(**changes: Any) -> dict[str, Any]:
    return {name: value for name, value in {**GRANT, **changes}.items() if value is not None}


def meal(**changes: Any) -> dict[str, Any]:
    return {
        **COMPUTED,
        "transaction": {name: value for name, value in {**MEAL, **changes}.items() if value is not None},
    }


# A body, the kind of problem, and the pointer to the field.
BAD: Final[list[tuple[Any, str, str]]] = [
    ([], "invalid", ""),
    ("text", "invalid", ""),
    (None, "invalid", ""),
    ({}, "invalid", "/member_id"),
    (grant(points=0), "invalid", "/points"),
    (grant(points=-1), "invalid", "/points"),
    (grant(points=1.0), "invalid", "/points"),
    (grant(points=1.5), "invalid", "/points"),
    (grant(points="5"), "invalid", "/points"),
    (grant(points=True), "invalid", "/points"),
    (grant(points=10**16), "invalid", "/points"),
    (grant(points=None), "invalid", "/points"),
    (grant(reason=None), "invalid", "/reason"),
    (grant(reason=""), "invalid", "/reason"),
    (grant(reason="x" * 201), "invalid", "/reason"),
    (grant(member_id=7), "invalid", "/member_id"),
    (grant(member_id="x" * 129), "invalid", "/member_id"),
    (grant(member_id=" bob"), "invalid", "/member_id"),
    (grant(member_id="b\x00b"), "invalid", "/member_id"),
    (grant(country="Singapore"), "invalid", "/country"),
    (grant(country="ZZ"), "unknown-country", "/country"),
    (grant(program="XYZ"), "unknown-program", "/program"),
    (grant(surprise=1), "invalid", "/surprise"),
    (grant(**{"a/b~c": 1}), "invalid", "/a~1b~0c"),
    (meal(vertical="golf"), "unknown-vertical", "/transaction/vertical"),
    (meal(payment_type="shells"), "unknown-payment-type", "/transaction/payment_type"),
    (meal(currency="EUR"), "unknown-currency", "/transaction/currency"),
    (meal(currency="sgd"), "invalid", "/transaction/currency"),
    (meal(country="ZZ"), "unknown-country", "/transaction/country"),
    (meal(amount=15.0), "invalid", "/transaction/amount"),
    (meal(amount="-1"), "invalid", "/transaction/amount"),
    (meal(amount="1e3"), "invalid", "/transaction/amount"),
    (meal(amount=None), "invalid", "/transaction/amount"),
    (meal(occurred_at="2026-05-10T12:30:00"), "invalid", "/transaction/occurred_at"),
    (meal(occurred_at="yesterday"), "invalid", "/transaction/occurred_at"),
    (meal(occurred_at=1778387400), "invalid", "/transaction/occurred_at"),
    (meal(occurred_at="2001-01-01T00:00:00Z"), "no-card-in-force", "/transaction/country"),
    (meal(type="transaction.refunded"), "invalid", "/transaction/type"),
    (meal(member_id="eve"), "contradiction", "/transaction/member_id"),
    ({**COMPUTED, "country": "ID"}, "contradiction", "/transaction/country"),
    (meal(surprise=1), "invalid", "/transaction/surprise"),
    ({**COMPUTED, "transaction": None}, "invalid", "/transaction"),
    ({**COMPUTED, "points": 5}, "invalid", "/points"),
    (grant(member_id="\ud800"), "invalid", "/member_id"),
    (grant(**{"\ud800": 1}), "invalid", ""),
]


@pytest.mark.long
async def test_bad_bodies(house: House) -> None:
    async with shop(house) as opened:
        acme = await opened.caller(await register(house))
        soon = (datetime.now(UTC) + timedelta(minutes=6)).isoformat()
        ahead = (meal(occurred_at=soon), "in-the-future", "/transaction/occurred_at")
        for body, expected, pointer in (*BAD, ahead):
            # A quote may be for a time to come.
            for path in ("/v1/awards",) if body is ahead[0] else ("/v1/awards", "/v1/quotes"):
                answer = await acme.post(path, content=json.dumps(body), headers=_json(**{"Idempotency-Key": "k"}))
                assert (answer.status_code, kind(answer)) == (422, expected), (body, answer.text)
                assert answer.json()["errors"][0]["pointer"] == pointer, (body, answer.text)
        assert await house.pool.fetchval("select count(*) from partner_award") == 0


BAD_REQUESTS: Final[list[tuple[bytes, dict[str, str], int, str]]] = [
    (b"{", {}, 400, "malformed"),
    (b"", {}, 422, "invalid"),
    (b"\xff\xfe", {}, 400, "malformed"),
    (b'{"points": NaN}', {}, 422, "invalid"),
    (b"[" * 100_000, {}, 400, "malformed"),
    (b'{"a":' * 50_000, {}, 400, "malformed"),
    (b" " * (2 * 1024 * 1024 + 1), {}, 413, "too-large"),
    (json.dumps(GRANT).encode(), {"Idempotency-Key": ""}, 400, "idempotency-key-missing"),
    (json.dumps(GRANT).encode(), {"Idempotency-Key": "x" * 256}, 400, "idempotency-key-missing"),
    (json.dumps(GRANT).encode(), {"Idempotency-Key": "two words"}, 400, "idempotency-key-missing"),
    (json.dumps(GRANT).encode(), {"Content-Type": "text/plain"}, 415, "unsupported-media-type"),
]


async def test_bad_requests(house: House) -> None:
    async with shop(house) as opened:
        acme = await opened.caller(await register(house))
        for content, headers, status, expected in BAD_REQUESTS:
            answer = await acme.post("/v1/awards", content=content, headers=_json(**{"Idempotency-Key": "k"}) | headers)
            assert (answer.status_code, kind(answer)) == (status, expected), (content[:50], answer.text[:200])


async def test_other_bad_requests(house: House) -> None:
    async with shop(house) as opened:
        acme = await opened.caller(await register(house))

        async def endless() -> Any:
            for _ in range(30):
                yield b" " * 100_000

        answers = {
            "missing": await acme.post("/v1/awards", json=GRANT),
            "unsized": await acme.post("/v1/awards", content=endless(), headers=_json(**{"Idempotency-Key": "k"})),
            "path": await acme.get("/v1/nothing"),
            "method": await acme.delete("/v1/awards"),
            "id": await acme.get("/v1/awards/7"),
            "limit": await acme.get("/v1/members/bob/transfers?limit=101"),
            "query": await acme.get("/v1/members/bob/transfers?surprise=1"),
            "member": await acme.get("/v1/members/%00"),
            "slash": await acme.get("/v1/awards/"),
            "none": await acme.post("/v1/awards/batch", json={"awards": []}),
        }
        assert {name: (answer.status_code, kind(answer)) for name, answer in answers.items()} == {
            "missing": (400, "idempotency-key-missing"),
            "unsized": (413, "too-large"),
            "path": (404, "not-found"),
            "method": (405, "method-not-allowed"),
            "id": (404, "not-found"),
            "limit": (422, "invalid"),
            "query": (422, "invalid"),
            "member": (422, "invalid"),
            "slash": (404, "not-found"),
            "none": (422, "invalid"),
        }
        assert answers["member"].json()["errors"][0]["pointer"] == "path/member_id"
        assert answers["limit"].json()["errors"][0]["pointer"] == "query/limit"
        await award(acme, "k")
        for cursor in ("x", "e30x", "WzFd", "eyJHUlAiOi0xfQ"):
            answer = await acme.get("/v1/members/bob/transfers", params={"cursor": cursor})
            assert answer.status_code in {404, 422}


async def test_the_document_and_the_problems_are_served(house: House) -> None:
    async with shop(house) as opened, httpx.AsyncClient(base_url=opened.url) as anyone:
        document = (await anyone.get("/openapi.json")).json()
        assert document["openapi"].startswith("3.1")
        for path, operations in document["paths"].items():
            for operation in operations.values():
                assert {"401", "413", "429", "503"} <= set(operation["responses"]), path
        assert (await anyone.get("/docs")).status_code == 200
        kinds = (await anyone.get("/problems")).json()
        assert (await anyone.get("/problems/budget-exhausted")).json()["status"] == 403
        assert [each for each in kinds if (await anyone.get(each)).status_code != 200] == []
        assert total(REQUESTS, route="/problems/{kind}", status="200") >= len(kinds)


def _json(**headers: str) -> dict[str, str]:
    return {"Content-Type": "application/json", **headers}
