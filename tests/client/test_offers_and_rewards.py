"""Offers, rewards and points at a till by the client: its requests, and how it reads answers."""

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import httpx
import pytest

from abacus_client import Lock, OfferItem
from tests.client.asking import EitherClient, ask, listed
from tests.client.scripted import ScriptedApi

ID = "03d1a7f0-51b8-8b44-9f2b-1c9f6d1f2a35"
ITEM: OfferItem = {
    "id": "1",
    "product": "laksa",
    "merchant": "m-17",
    "brand": "hawker",
    "categories": ["food"],
    "price": Decimal("12.00"),
    "currency": "SGD",
}
SENT = {**ITEM, "price": "12.00"}
SHOWN = {
    "offer": "lunch_20",
    "version": 1,
    "saves": "2.40",
    "pays": "9.60",
    "until": "2026-11-30T16:00:00Z",
    "points": 19,
}
RESERVED = {
    "reservation_id": ID,
    "offer": "lunch_20",
    "version": 1,
    "member_id": "b/ob",
    "status": "held",
    "saves": "2.40",
    "points": 0,
    "currency": "SGD",
    "until": "2026-11-27T04:10:00Z",
}
TAKEN = {
    "redemption_id": ID,
    "offer": "lunch_20",
    "version": 1,
    "member_id": "b/ob",
    "saves": "2.40",
    "points": 0,
    "currency": "SGD",
    "redeemed_at": "2026-11-27T04:05:00Z",
    "saves_rolled_back": "0.00",
    "points_rolled_back": 0,
}
BOUGHT = {
    "redemption_id": ID,
    "reward": "coffee",
    "version": 1,
    "member_id": "b/ob",
    "quantity": 1,
    "points": 500,
    "money": "0",
    "status": "given",
    "code": "KOPI-0001",
    "asked_at": "2026-11-27T09:00:00+00:00",
}
QUOTED = {
    "member_id": "b/ob",
    "program": "GRP",
    "country": "SG",
    "points": 420,
    "money": "4.20",
    "currency": "SGD",
    "available": 500,
    "card": "SG@1",
}
ENTRY = {"asked_at": "2026-11-27T09:00:00+00:00", "status": "entered", "why": None}
INSIDE = {
    "journey": "lapsing",
    "member_id": "b/ob",
    "visits": [
        {
            "visit": 1,
            "version": 3,
            "entered_at": "2026-11-27T09:00:00+00:00",
            "node": "last_day",
            "since": "2026-11-27T09:00:00+00:00",
            "left_at": None,
            "why": None,
        }
    ],
    "entries": [ENTRY],
}
REWARDS = {
    "member_id": "b/ob",
    "rewards": [
        {
            "name": "coffee",
            "version": 1,
            "country": "SG",
            "texts": {"en": {"title": "A coffee"}},
            "picture": None,
            "points": 500,
            "ends_at": "2027-01-01T00:00:00+08:00",
            "affordable": False,
            "locks": [{"reason": "points", "detail": "120 points are missing"}],
        }
    ],
    "degraded": False,
}

Asked = Callable[[EitherClient], Awaitable[Any]]


@pytest.mark.parametrize(
    ("asked", "answer", "request_", "body"),
    [
        (
            lambda of: ask(of.enter_journey, "lapsing", "b/ob", {"points": 5}, idempotency_key="k"),
            {"journey": "lapsing", "member_id": "b/ob", **ENTRY},
            "POST /v1/journeys/lapsing/entries",
            {"member_id": "b/ob", "context": {"points": 5}},
        ),
        (
            lambda of: ask(of.journey_member, "lapsing", "b/ob"),
            INSIDE,
            "GET /v1/journeys/lapsing/members/b%2Fob",
            None,
        ),
        (
            lambda of: ask(of.reserve_offer, "lunch_20", "b/ob", ITEM, code="TEN", idempotency_key="k"),
            RESERVED,
            "POST /v1/offers/lunch_20/reservations",
            {"member_id": "b/ob", "item": SENT, "code": "TEN"},
        ),
        (
            lambda of: ask(of.reserve_offers, "b/ob", [ITEM], ["lunch_20", "tea"], idempotency_key="k"),
            {"reservations": [RESERVED]},
            "POST /v1/offer-reservations",
            {"member_id": "b/ob", "items": [SENT], "offers": ["lunch_20", "tea"], "codes": []},
        ),
        (
            lambda of: ask(of.redeem_reservation, ID, [ITEM], saves="2.40"),
            TAKEN,
            f"POST /v1/reservations/{ID}/redeem",
            {"items": [SENT], "saves": "2.40"},
        ),
        (lambda of: ask(of.release_reservation, UUID(ID)), RESERVED, f"POST /v1/reservations/{ID}/release", None),
        (
            lambda of: ask(of.roll_back_redemption, ID, saves=Decimal("1.20"), idempotency_key="k"),
            TAKEN,
            f"POST /v1/redemptions/{ID}/rollback",
            {"saves": "1.20"},
        ),
        (
            lambda of: ask(of.redeem_reward, "b/ob", "coffee", points=400, idempotency_key="k"),
            BOUGHT,
            "POST /v1/members/b%2Fob/redemptions",
            {"reward": "coffee", "quantity": 1, "points": 400},
        ),
        (lambda of: ask(of.redemption, "b/ob", ID), BOUGHT, f"GET /v1/members/b%2Fob/redemptions/{ID}", None),
        (
            lambda of: ask(of.cancel_redemption, "b/ob", ID),
            BOUGHT,
            f"POST /v1/members/b%2Fob/redemptions/{ID}/cancel",
            None,
        ),
        (
            lambda of: ask(of.return_redemption, "b/ob", ID),
            BOUGHT,
            f"POST /v1/members/b%2Fob/redemptions/{ID}/return",
            None,
        ),
        (
            lambda of: ask(of.report_fulfilment, "b/ob", ID, "failed", detail="It is broken"),
            BOUGHT,
            f"POST /v1/members/b%2Fob/redemptions/{ID}/fulfilment",
            {"state": "failed", "detail": "It is broken"},
        ),
        (
            lambda of: ask(of.point_quote, "b/ob", money=Decimal("4.20")),
            QUOTED,
            "POST /v1/point-quotes",
            {"member_id": "b/ob", "money": "4.20"},
        ),
        (lambda of: ask(of.rewards, "b/ob"), REWARDS, "GET /v1/rewards?member_id=b%2Fob", None),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
async def test_what_is_sent(
    api: ScriptedApi, asked: Asked, answer: dict[str, Any], request_: str, body: dict[str, Any] | None
) -> None:
    api.answers(httpx.Response(200, json=answer, headers={"Idempotency-Replayed": "true"}))
    told = await asked(api.client())
    (sent,) = api.requests
    assert f"{sent.method} {sent.url.raw_path.decode()}" == request_
    assert (json.loads(sent.content) if sent.content else None) == body
    assert sent.headers.get("Idempotency-Key") == ("k" if sent.headers.get("Idempotency-Key") else None)
    first = told[0] if isinstance(told, list) else told
    assert first.member_id == "b/ob"
    assert getattr(first, "replayed", True)


async def test_offers_are_read(api: ScriptedApi) -> None:
    refused = {"offer": "gold_half", "reason": "tier", "needs": None}
    item = {"id": "1", "price": "12.00", "best": SHOWN, "others": [], "refused": [refused]}
    api.answers(
        httpx.Response(200, json={"items": [item], "degraded": False, "reserved": False, "as_of": SHOWN["until"]}),
        httpx.Response(200, json={"offers": [{"offer": "tea", "refused": refused}], "degraded": True}),
    )
    client = api.client()
    told = await ask(client.qualify, "SG", [ITEM], member_id="bob", scenario="basket", explain=True)
    best = told.items[0].best
    assert best is not None
    assert (best.saves, best.pays, best.points) == (Decimal("2.40"), Decimal("9.60"), 19)
    assert (told.items[0].refused[0].reason, told.as_of) == ("tier", datetime(2026, 11, 30, 16, tzinfo=UTC))
    (judged,) = await ask(client.validate_offers, "SG", [ITEM], offers=["tea"])
    assert (judged.offer, judged.saves, judged.items) == ("tea", None, ())
    asked, validated = [json.loads(each.content) for each in api.requests]
    assert asked == {"member_id": "bob", "country": "SG", "scenario": "basket", "explain": True, "items": [SENT]}
    assert validated == {"country": "SG", "items": [SENT], "offers": ["tea"], "codes": []}


async def test_a_reward_and_a_quote_are_read(api: ScriptedApi) -> None:
    api.answers(httpx.Response(200, json=REWARDS), httpx.Response(200, json=QUOTED))
    client = api.client()
    (coffee,) = (await ask(client.rewards, "b/ob")).rewards
    assert (coffee.points, coffee.affordable, coffee.locks) == (500, False, (Lock("points", "120 points are missing"),))
    quote = await ask(client.point_quote, "b/ob", points=420)
    assert (quote.money, quote.available) == (Decimal("4.20"), 500)


async def test_redemptions_are_read_page_by_page(api: ScriptedApi) -> None:
    api.answers(
        httpx.Response(200, json={"member_id": "bob", "redemptions": [BOUGHT, BOUGHT], "next": "abc"}),
        httpx.Response(200, json={"member_id": "bob", "redemptions": [BOUGHT], "next": None}),
    )
    found = await listed(api.client().redemptions("bob"))
    assert [each.code for each in found] == ["KOPI-0001"] * 3
    assert [each.url.query.decode() for each in api.requests] == ["limit=100", "limit=100&cursor=abc"]


async def test_a_spend_names_its_money_and_a_refund_its_amount(api: ScriptedApi) -> None:
    document = {
        "id": "bob:GRP:2",
        "program": "GRP",
        "seq": 2,
        "kind": "spend",
        "points": -420,
        "balance_after": 80,
        "key": "api:acme:1",
        "country": "SG",
        "occurred_at": "2026-05-01T12:00:00+00:00",
        "posted_at": "2026-05-01T12:00:01.5+00:00",
        "expires_on": "2026-11-30",
        "explanation": {"points": 5},
        "member_id": "bob",
        "balance": 80,
    }
    api.answers(httpx.Response(201, json=document), httpx.Response(201, json=document))
    client = api.client()
    await ask(client.spend, "bob", 420, money=Decimal("4.20"), price="10.00")
    await ask(client.reverse, "bob:GRP:2", amount=Decimal("5.00"))
    assert [json.loads(each.content) for each in api.requests] == [
        {"points": 420, "money": "4.20", "price": "10.00"},
        {"amount": "5.00"},
    ]
