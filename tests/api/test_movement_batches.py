"""Many movements in one request: the outcome of each, what a repetition is told, and what holds for each item."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.support.house import House
from tests.support.outcomes import verified
from tests.support.shop import Shop, award, register, shop

pytestmark = pytest.mark.once


@pytest.fixture
async def open_shop(house: House) -> AsyncIterator[Shop]:
    async with shop(house, "awarder") as it:
        yield it


async def rich(caller: httpx.AsyncClient, *members: str, points: int = 100, country: str = "SG") -> None:
    for member in members:
        body = {"member_id": member, "country": country, "points": points, "reason": "Hi"}
        answer = await award(caller, f"start-{member}-{country}", body, Prefer="wait=10")
        assert answer.status_code == 201, answer.text


def spend(key: str, points: Any = 5, member: str = "bob", **more: Any) -> dict[str, Any]:
    return {"idempotency_key": key, "kind": "spend", "member_id": member, "points": points, **more}


def hold(key: str, points: int = 5, member: str = "bob", **more: Any) -> dict[str, Any]:
    return spend(key, points, member, **more) | {"kind": "hold"}


def settle(kind: str, key: str, hold_id: str, member: str = "bob", **more: Any) -> dict[str, Any]:
    return {"idempotency_key": key, "kind": kind, "member_id": member, "hold_id": hold_id, **more}


async def moved(caller: httpx.AsyncClient, *items: Any) -> list[dict[str, Any]]:
    answer = await caller.post("/v1/movements", json={"movements": items})
    assert answer.status_code == 200, answer.text
    results: list[dict[str, Any]] = answer.json()["results"]
    return results


def told(results: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    """Of each result the outcome, with the balance and the available points, or the kind of the problem."""
    return [
        (each["outcome"], (each["movement"]["balance"], each["movement"]["available"]))
        if "movement" in each
        else (each["outcome"], each["problem"]["type"].removeprefix("/problems/"))
        for each in results
    ]


async def test_movements_of_a_member_are_done_in_their_order(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    await rich(acme, "bob", "eve")
    results = await moved(
        acme, spend("s-1", 60), spend("s-2", 60), hold("h-1", 30), spend("s-3", 20, "eve"), spend("s-4", 20)
    )
    assert [each["idempotency_key"] for each in results] == ["s-1", "s-2", "h-1", "s-3", "s-4"]
    assert told(results) == [
        ("posted", (40, 40)),
        ("refused", "insufficient-points"),
        ("posted", (40, 10)),
        ("posted", (80, 80)),
        ("refused", "insufficient-points"),
    ]
    placed = results[2]["movement"]["hold_id"]
    settled = await moved(acme, settle("capture", "c-1", placed, points=10), spend("s-5", 30), spend("s-6", 1))
    assert told(settled) == [("posted", (30, 30)), ("posted", (0, 0)), ("refused", "insufficient-points")]
    assert await verified(house)


async def test_a_repetition_is_told_the_same_and_other_facts_are_a_conflict(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    await rich(acme, "bob")
    first = await moved(acme, spend("s-1", 10), hold("h-1", 20, expires_in=60))
    again = await moved(acme, hold("h-1", 20, expires_in=60), spend("s-1", 10), spend("s-1", 11), hold("s-1", 10))
    assert [each["outcome"] for each in again] == ["replayed", "replayed", "refused", "refused"]
    assert [each["movement"] for each in again[:2]] == [each["movement"] for each in reversed(first)]
    assert told(again)[2:] == [("refused", "idempotency-key-reused")] * 2
    alone = await acme.post("/v1/members/bob/spend", json={"points": 10}, headers={"Idempotency-Key": "s-1"})
    assert (alone.status_code, alone.headers["idempotency-replayed"]) == (201, "true")
    assert alone.json() == first[0]["movement"]


async def test_a_key_stands_for_one_movement_in_a_request(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house))
    await rich(acme, "bob")
    results = await moved(acme, spend("s-1", 10), spend("s-1", 10), spend("s-1", 11), spend("s-2", 1))
    assert told(results) == [
        ("posted", (90, 90)),
        ("replayed", (90, 90)),
        ("refused", "idempotency-key-reused"),
        ("posted", (89, 89)),
    ]
    assert results[2]["problem"]["detail"] == "/movements/0 has it with other facts"


async def test_a_hold_is_settled_once_under_whichever_key(house: House, open_shop: Shop) -> None:
    acme, other = [await open_shop.caller(await register(house, each)) for each in ("acme", "other")]
    await rich(acme, "bob")
    holds = [each["movement"]["hold_id"] for each in await moved(acme, hold("h-1", 20), hold("h-2", 20))]
    assert told(await moved(other, settle("capture", "x-1", holds[0]))) == [("refused", "no-such-hold")]
    results = await moved(
        acme,
        settle("capture", "c-1", holds[0]),
        settle("capture", "c-2", holds[0]),
        settle("capture", "c-3", holds[0], points=1),
        settle("release", "r-1", holds[0]),
        settle("release", "r-2", holds[1]),
        settle("release", "r-3", holds[1], member="eve"),
        settle("capture", "h-1", holds[1]),
        settle("capture", "start-bob-SG", holds[1]),
    )
    assert told(results) == [
        ("posted", (80, 60)),
        ("replayed", (80, 60)),
        ("refused", "hold-not-open"),
        ("refused", "hold-not-open"),
        ("posted", (80, 80)),
        ("refused", "no-such-hold"),
        ("refused", "idempotency-key-reused"),
        ("refused", "idempotency-key-reused"),
    ]


async def test_rights_and_facts_are_checked_for_each(house: House, open_shop: Shop) -> None:
    rich_in = await open_shop.caller(await register(house, "both"))
    await rich(rich_in, "bob")
    await rich(rich_in, "ina", country="ID")
    here = await open_shop.caller(await register(house, "here", countries=("SG",)))
    results = await moved(
        here,
        spend("s-1", 5),
        spend("s-2", 5, "ina"),
        spend("s-3", 5, "nobody"),
        spend("s-4", 5, country="ID"),
        spend("s-5", 5, country="XX"),
        spend("s-6", 5, program="NONE"),
        spend("s-7", 5, price="1.00"),
        spend("start-bob-SG", 5),
        spend("s-8", 5),
    )
    assert told(results) == [
        ("posted", (95, 95)),
        ("refused", "not-found"),
        ("refused", "not-found"),
        ("refused", "not-found"),
        ("refused", "unknown-country"),
        ("refused", "not-found"),
        ("refused", "contradiction"),
        ("posted", (90, 90)),  # the award's key is that of another partner
        ("posted", (85, 85)),
    ]
    assert results[6]["problem"]["errors"][0]["pointer"] == "/movements/6/price"
    assert told(await moved(rich_in, spend("start-bob-SG", 5))) == [("refused", "idempotency-key-reused")]
    barred = await open_shop.caller(await register(house, "barred", may_spend=False))
    refused = await barred.post("/v1/movements", json={"movements": [spend("s-1")]})
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/spending-not-allowed")


@pytest.mark.parametrize(
    ("item", "pointer"),
    [
        ("spend", "/movements/0"),
        ({}, "/movements/0/points"),
        (spend("s-1") | {"kind": "adjust"}, "/movements/0/kind"),
        (spend("s-1") | {"kind": ["spend"]}, "/movements/0/kind"),
        (spend("") | {"points": 1}, "/movements/0/idempotency_key"),
        (spend("s-1", 0), "/movements/0/points"),
        (spend("s-1", "5"), "/movements/0/points"),
        (spend("s-1", member=""), "/movements/0/member_id"),
        (spend("s-1", expires_in=60), "/movements/0/expires_in"),
        (hold("h-1", expires_in=0), "/movements/0/expires_in"),
        (settle("capture", "c-1", "no-uuid"), "/movements/0/hold_id"),
        (settle("release", "r-1", "3f0c1f5e-0d0b-5d0e-9a41-6f1c0c4e7b0f", points=1), "/movements/0/points"),
    ],
)
async def test_an_item_that_cannot_be_read_fails_alone(house: House, open_shop: Shop, item: Any, pointer: str) -> None:
    acme = await open_shop.caller(await register(house))
    await rich(acme, "bob")
    bad, good = await moved(acme, item, spend("good"))
    assert (bad["outcome"], bad["problem"]["errors"][0]["pointer"]) == ("refused", pointer)
    assert good["outcome"] == "posted"


@pytest.mark.parametrize(
    ("body", "status", "pointer"),
    [
        ({"movements": []}, 422, "/movements"),
        ({"movements": [spend(f"s-{each}") for each in range(101)]}, 422, "/movements"),
        ({"movements": [spend("s-1")], "also": 1}, 422, "/also"),
        ({}, 422, "/movements"),
    ],
)
async def test_a_body_that_is_none_is_refused(
    house: House, open_shop: Shop, body: Any, status: int, pointer: str
) -> None:
    acme = await open_shop.caller(await register(house))
    answer = await acme.post("/v1/movements", json=body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (status, pointer)
