"""Campaigns over HTTP: with a person's token, from a draft to its end."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.api.test_api_approvals import decide, kind, person
from tests.support.house import House
from tests.support.shop import Shop, register, shop

pytestmark = pytest.mark.once

FIVE = {"award": {"points": 5}}
MARKET: dict[str, Any] = {
    "name": "market",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": "2026-01-01T00:00:00+08:00",
    "ends_at": (datetime.now(UTC) + timedelta(days=30)).isoformat(),
    "on": ["transaction.completed"],
    "when": {"operator": "eq", "lhs": "var.vertical", "rhs": "food"},
    "steps": [{"do": [{"award": {"points": 500}}]}],
    "limits": {"runs": {"overall": 10}},
}


@pytest.fixture
async def open_shop(house: House) -> AsyncIterator[Shop]:
    async with shop(house) as it:
        yield it


@pytest.fixture
async def ann(house: House, open_shop: Shop) -> httpx.AsyncClient:
    return await person(house, open_shop, "ann", "country_editor:SG")


@pytest.mark.long
async def test_a_campaign_from_its_draft_to_its_end(house: House, open_shop: Shop, ann: httpx.AsyncClient) -> None:
    eve = await person(house, open_shop, "eve", "approver:SG")
    submitted = await ann.post("/v1/campaigns", json=MARKET)
    assert submitted.status_code == 202
    assert (submitted.json()["campaign"]["version"], submitted.json()["campaign"]["state"]) == (1, "submitted")
    assert kind(await decide(ann, submitted.json()["approval"])) == (403, "role-needed")
    assert (await decide(eve, submitted.json()["approval"])).status_code == 200
    shown = (await ann.get("/v1/campaigns/market")).json()
    assert (shown["state"], shown["drafted_by"], shown["approved_by"]) == ("running", "person:ann", "person:eve")
    assert kind(await ann.post("/v1/campaigns", json=MARKET)) == (409, "campaign-state")
    for move, state in (("pause", "paused"), ("resume", "running"), ("end", "ended")):
        answer = await ann.post(f"/v1/campaigns/market/{move}", json={"reason": "because"})
        assert (answer.status_code, answer.json()["state"]) == (200, state)
    assert kind(await ann.post("/v1/campaigns/market/pause", json={"reason": "again"})) == (409, "campaign-state")
    assert kind(await ann.post("/v1/campaigns/market/pause", json={})) == (422, "invalid")
    report = (await ann.get("/v1/campaigns/market/report")).json()
    assert (report["events"], report["comes_out"]) == (0, True)


async def test_pages_filters_and_versions(ann: httpx.AsyncClient) -> None:
    for name in ("a", "b", "c"):
        assert (await ann.post("/v1/campaigns", json={**MARKET, "name": name})).status_code == 202
    page = (await ann.get("/v1/campaigns", params={"limit": 2})).json()
    assert ([each["name"] for each in page["campaigns"]], page["next"]) == (["a", "b"], "b")
    page = (await ann.get("/v1/campaigns", params={"limit": 2, "after": "b"})).json()
    assert ([each["name"] for each in page["campaigns"]], page["next"]) == (["c"], None)
    assert (await ann.post("/v1/campaigns/a/withdraw", json={"reason": "no"})).json()["state"] == "draft"
    assert len((await ann.get("/v1/campaigns", params={"state": "draft"})).json()["campaigns"]) == 1
    assert (await ann.post("/v1/campaigns/a/submit")).status_code == 202
    assert (await ann.post("/v1/campaigns", json={**MARKET, "name": "a", "priority": 1})).status_code == 202
    versions = (await ann.get("/v1/campaigns/a/versions")).json()["versions"]
    assert [(each["version"], each["state"]) for each in versions] == [(1, "ended"), (2, "submitted")]


async def test_faults_come_with_their_pointers(ann: httpx.AsyncClient) -> None:
    wrong = {**MARKET, "country": "XX", "limits": {}, "on": ["nothing"]}
    answer = await ann.post("/v1/campaigns/lint", json=wrong)
    assert kind(answer) == (422, "invalid")
    assert [each["pointer"] for each in answer.json()["errors"]] == ["/country", "/on[0]", "/limits.runs"]
    assert (await ann.post("/v1/campaigns/lint", json=MARKET)).json()["faults"] == []
    again = {**MARKET, "on": ["points/abacus.points.earned.v1"], "when": None, "steps": [{"do": [FIVE]}]}
    answer = await ann.post("/v1/campaigns/lint", json={name: each for name, each in again.items() if each is not None})
    (fault,) = answer.json()["errors"]
    assert fault == {
        "pointer": "/steps[0].do[0].award",
        "detail": "would set itself off without end: market → market",
    }
    assert (await ann.get("/v1/campaigns")).json()["campaigns"] == []


@pytest.mark.long
async def test_who_may_not(house: House, open_shop: Shop, ann: httpx.AsyncClient) -> None:
    acme = await open_shop.caller(await register(house))
    kim = await person(house, open_shop, "kim", "country_editor:ID")
    assert kind(await acme.get("/v1/campaigns")) == (403, "person-needed")
    assert kind(await kim.post("/v1/campaigns", json=MARKET)) == (403, "role-needed")
    assert (await ann.post("/v1/campaigns", json=MARKET)).status_code == 202
    assert kind(await kim.get("/v1/campaigns/market")) == (404, "not-found")
    assert (await kim.get("/v1/campaigns")).json()["campaigns"] == []
    assert kind(await kim.post("/v1/campaigns/market/end", json={"reason": "mine"})) == (404, "not-found")
