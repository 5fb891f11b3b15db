"""Spending, holding, taking back and adjusting by the client: its requests, and how it reads answers."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import httpx
import pytest

from abacus_client import Movement, MovementItem, Pending, Problem
from tests.client.asking import ask, listed
from tests.client.scripted import ScriptedApi, problem, transfer_document

HOLD = "85647227-1bc2-5615-a83f-022aee3b0fd3"


def posted(**more: Any) -> httpx.Response:
    document = {**transfer_document(2), "member_id": "bob", "balance": 10, "reverses": None, "actor": "acme", **more}
    return httpx.Response(201, json=document)


async def test_a_spend_is_tried_again_under_one_key(api: ScriptedApi) -> None:
    api.answers(problem(503, "unavailable"), posted(available=7))
    spent = await ask(api.client().spend, "bob", 50, reason="A coffee")
    assert (spent.balance, spent.available, spent.replayed) == (10, 7, False)
    keys = {request.headers["Idempotency-Key"] for request in api.requests}
    assert len(keys) == 1
    assert UUID(keys.pop()).version == 4
    assert str(api.requests[-1].url).endswith("/v1/members/bob/spend")
    assert json.loads(api.requests[-1].content) == {"points": 50, "reason": "A coffee"}


async def test_a_hold_is_its_own_key(api: ScriptedApi) -> None:
    until = "2026-05-01T12:15:00+00:00"
    api.answers(posted(hold_id=HOLD, held=50, until=until), posted(), posted())
    client = api.client()
    held = await ask(client.hold, "bob", 50, expires_in=900, country="SG", idempotency_key="h-1")
    assert (held.hold_id, held.held, held.until) == (UUID(HOLD), 50, datetime(2026, 5, 1, 12, 15, tzinfo=UTC))
    await ask(client.capture, "bob", HOLD, 30)
    await ask(client.release, "bob", UUID(HOLD))
    placed, captured, released = api.requests
    assert json.loads(placed.content) == {"points": 50, "country": "SG", "expires_in": 900}
    assert placed.headers["Idempotency-Key"] == "h-1"
    assert (captured.url.path, json.loads(captured.content)) == (
        f"/v1/members/bob/holds/{HOLD}/capture",
        {"points": 30},
    )
    assert (released.url.path, released.content) == (f"/v1/members/bob/holds/{HOLD}/release", b"")
    assert "Idempotency-Key" not in captured.headers


async def test_each_movement_of_a_batch_has_its_key_and_its_result(api: ScriptedApi) -> None:
    refusal = {"type": "/problems/insufficient-points", "title": "T", "status": 409, "detail": "D"}
    movement = json.loads(posted(available=7).content)
    results = [
        {"idempotency_key": "s-1", "outcome": "replayed", "movement": movement},
        {"idempotency_key": "h-1", "outcome": "refused", "problem": refusal},
        {"idempotency_key": "c-1", "outcome": "unknown", "problem": refusal},
    ]
    api.answers(problem(503, "unavailable"), httpx.Response(200, json={"results": results}))
    items: list[MovementItem] = [
        {"kind": "spend", "member_id": "bob", "points": 5, "money": Decimal("0.05"), "idempotency_key": "s-1"},
        {"kind": "hold", "member_id": "bob", "points": 500, "expires_in": 60},
        {"kind": "capture", "member_id": "bob", "hold_id": UUID(HOLD)},
    ]
    spent, held, captured = await ask(api.client().movements, items)
    assert api.requests[0].content == api.requests[1].content
    given, made, settled = json.loads(api.requests[0].content)["movements"]
    assert given == {**items[0], "money": "0.05"}
    assert UUID(made["idempotency_key"]).version == 4
    assert settled["hold_id"] == HOLD
    assert spent.movement is not None
    assert (spent.outcome, spent.movement.replayed, spent.movement.available) == ("replayed", True, 7)
    assert (held.outcome, held.movement, held.problem) == (
        "refused",
        None,
        Problem("insufficient-points", "T", 409, "D"),
    )
    assert captured.outcome == "unknown"


async def test_a_transfer_is_taken_back_by_its_id(api: ScriptedApi) -> None:
    answer = posted(reverses="api:acme:1")
    answer.headers["Idempotency-Replayed"] = "true"
    api.answers(answer)
    back = await ask(api.client().reverse, "b/ob:GRP:1", 5, reason="One of two", idempotency_key="r-1")
    assert isinstance(back, Movement)
    assert (back.reverses, back.replayed) == ("api:acme:1", True)
    assert api.requests[0].url.raw_path == b"/v1/transfers/b%2Fob%3AGRP%3A1/reverse"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (posted(), Movement),
        (
            httpx.Response(
                202,
                json={
                    "approval_id": HOLD,
                    "adjustment_id": HOLD,
                    "kind": "adjustment",
                    "member_id": "bob",
                    "program": "GRP",
                    "points": 500,
                    "reason": "Sorry",
                    "actor": "ann",
                    "status": "pending",
                    "country": "SG",
                },
            ),
            Pending,
        ),
    ],
)
async def test_an_adjustment_is_posted_or_waits(api: ScriptedApi, answer: httpx.Response, kind: type) -> None:
    api.answers(answer)
    adjusted = await ask(api.client().adjust, "bob", 500, reason="Sorry", actor="ann")
    assert isinstance(adjusted, kind)
    assert json.loads(api.requests[0].content) == {"points": 500, "reason": "Sorry", "actor": "ann"}


async def test_a_large_reversal_waits(api: ScriptedApi) -> None:
    waiting = {"approval_id": HOLD, "kind": "reversal", "member_id": "bob", "program": "GRP", "points": 500}
    api.answers(httpx.Response(202, json={**waiting, "reason": "reversed", "actor": "acme", "status": "pending"}))
    back = await ask(api.client().reverse, "bob:GRP:1")
    assert isinstance(back, Pending)
    assert (back.kind, back.points) == ("reversal", 500)


async def test_lots_come_page_after_page(api: ScriptedApi) -> None:
    lot = {"id": "bob:GRP:1", "program": "GRP", "seq": 1, "key": "k", "kind": "earn", "points": 5, "remaining": 3}
    lot |= {"occurred_at": "2026-05-01T12:00:00Z", "expires_on": None}
    api.answers(
        httpx.Response(200, json={"member_id": "bob", "lots": [lot], "next": "there"}),
        httpx.Response(200, json={"member_id": "bob", "lots": [lot], "next": None}),
    )
    assert [each.remaining for each in await listed(api.client().lots("bob"))] == [3, 3]
    assert api.requests[1].url.params["cursor"] == "there"
