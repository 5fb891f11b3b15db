"""Callers ask members into journeys, and see where they are."""

from collections.abc import AsyncIterator
from typing import Any, Final

import httpx
import pytest

from abacus.engage.journeys.decide.context import LARGEST
from abacus.people.types.person import Role
from tests.api.test_api_approvals import kind, person
from tests.support.house import House, until
from tests.support.running_journeys import ORDERS, run_journey
from tests.support.shop import Shop, register, shop

pytestmark = pytest.mark.once

PATH: Final = "/v1/journeys/lapsing/entries"
WHERE: Final = "/v1/journeys/lapsing/members/bob"
BODY: Final[dict[str, Any]] = {"member_id": "bob", "context": {"points": 1250, "reason": "rain"}}
NODES: Final = {"hello": {"wait": {"for": "2d"}, "next": "through"}, "through": {"exit": "through"}}


def by_key(key: str) -> dict[str, str]:
    return {"Idempotency-Key": key}


async def run_lapsing(house: House, **changes: Any) -> None:
    await run_journey(
        house,
        **{
            "name": "lapsing",
            "entry": {"api": True},
            "context": {"points": "integer", "reason": "text"},
            "nodes": NODES,
            **changes,
        },
    )


async def pointers(caller: httpx.AsyncClient, context: dict[str, Any]) -> list[str]:
    answer = await caller.post(PATH, json={"member_id": "bob", "context": context}, headers=by_key("9"))
    assert kind(answer) == (422, "invalid")
    return [each["pointer"] for each in answer.json()["errors"]]


@pytest.fixture
async def opened(house: House) -> AsyncIterator[Shop]:
    await run_lapsing(house)
    async with shop(house) as it:
        yield it


async def test_an_entry_is_kept_once_and_told_where_it_stands(house: House, opened: Shop) -> None:
    acme = await opened.caller(await register(house))
    first = await acme.post(PATH, json=BODY, headers=by_key("1"))
    assert first.status_code == 202
    asked_at = first.json()["asked_at"]
    waiting = {"asked_at": asked_at, "status": "waiting", "why": None}
    assert first.json() == {"journey": "lapsing", "member_id": "bob", **waiting}
    assert (await acme.post(PATH, json=BODY, headers=by_key("1"))).json() == first.json()
    other = {**BODY, "context": {**BODY["context"], "points": 5}}
    assert kind(await acme.post(PATH, json=other, headers=by_key("1"))) == (422, "idempotency-key-reused")
    shown = {"journey": "lapsing", "member_id": "bob", "visits": [], "entries": [waiting]}
    assert (await acme.get(WHERE)).json() == shown
    stranger = await opened.caller(await register(house, "other", may_spend=False))
    assert (await stranger.get(WHERE)).json() == {**shown, "entries": []}


async def test_a_context_has_its_fields_their_types_and_a_bound(house: House, opened: Shop) -> None:
    acme = await opened.caller(await register(house))
    assert await pointers(acme, {"points": "many", "rain": 1}) == [
        "/context/rain",
        "/context/points",
        "/context/reason",
    ]
    assert await pointers(acme, {"points": 1, "reason": "x" * LARGEST}) == ["/context"]
    assert await pointers(acme, {"points": 10**20, "reason": "x"}) == ["/context"], "beyond 64 bits"
    assert kind(await acme.post(PATH, json=BODY)) == (400, "idempotency-key-missing")
    assert kind(await acme.post(PATH, json={**BODY, "member_id": "=bob"}, headers=by_key("1"))) == (422, "invalid")
    assert (await acme.get(WHERE)).json()["entries"] == []


async def test_who_may_not_and_where_nobody_enters(house: House, opened: Shop) -> None:
    acme = await opened.caller(await register(house))
    abroad = await opened.caller(await register(house, "abroad", countries=("ID",)))
    counting = await opened.caller(await register(house, "counting", fixed_points=False))
    viewer = await person(house, opened, "vera", Role.VIEWER)
    support = await person(house, opened, "sue", f"{Role.SUPPORT}:SG")
    await run_journey(house, name="ordered", entry={"on": ORDERS}, nodes=NODES)
    assert kind(await abroad.post(PATH, json=BODY, headers=by_key("1"))) == (403, "country-not-allowed")
    assert kind(await counting.post(PATH, json=BODY, headers=by_key("1"))) == (403, "journeys-not-allowed")
    assert kind(await abroad.get(WHERE)) == (403, "country-not-allowed")
    assert kind(await viewer.post(PATH, json=BODY, headers=by_key("1"))) == (403, "role-needed")
    assert (await support.post(PATH, json=BODY, headers=by_key("1"))).status_code == 202
    assert len((await viewer.get(WHERE)).json()["entries"]) == 1
    nowhere = await acme.post("/v1/journeys/nowhere/entries", json=BODY, headers=by_key("2"))
    assert kind(nowhere) == (404, "not-found")
    ordered = await acme.post("/v1/journeys/ordered/entries", json=BODY, headers=by_key("2"))
    assert kind(ordered) == (409, "journey-state")
    editor = await person(house, opened, "ed", f"{Role.COUNTRY_EDITOR}:SG")
    await editor.post("/v1/journeys/lapsing/pause", json={"reason": "because"})
    assert kind(await acme.post(PATH, json=BODY, headers=by_key("2"))) == (409, "journey-state")


@pytest.mark.long
async def test_a_member_enters_and_is_seen_until_it_leaves(house: House) -> None:
    await run_lapsing(house, entry={"api": True, "when": {"operator": "gt", "lhs": "context.points", "rhs": 100}})
    async with shop(house, "journeyer") as at:
        acme = await at.caller(await register(house))
        await acme.post(PATH, json=BODY, headers=by_key("1"))
        await acme.post(PATH, json={**BODY, "context": {"points": 5, "reason": "rain"}}, headers=by_key("2"))

        async def both() -> bool:
            entries = (await acme.get(WHERE)).json()["entries"]
            return all(each["status"] != "waiting" for each in entries)

        await until(both)
        told = (await acme.get(WHERE)).json()
        assert [(each["status"], each["why"]) for each in told["entries"]] == [
            ("entered", None),
            ("refused", "the rule of the entry does not hold"),
        ]
        (visit,) = told["visits"]
        assert (visit["visit"], visit["version"], visit["node"]) == (1, 1, "hello")
        assert visit["entered_at"] <= visit["since"]
        assert (await acme.post(PATH, json=BODY, headers=by_key("1"))).json()["status"] == "entered"
