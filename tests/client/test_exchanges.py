"""Exchanges by the client: its requests, and how it reads answers."""

import json
from collections.abc import Awaitable, Callable
from datetime import date
from typing import Any
from uuid import UUID

import httpx
import pytest

from abacus_client import Unavailable
from tests.client.asking import EitherClient, ask, listed
from tests.client.scripted import ScriptedApi, problem

ID = "03d1a7f0-51b8-8b44-9f2b-1c9f6d1f2a35"
AT = "2026-11-28T09:00:00+00:00"
QUOTE = {
    "quote_id": ID,
    "programme": "skymiles",
    "version": 1,
    "direction": "out",
    "points": 2500,
    "fee": 0,
    "theirs": 1000,
    "unit": "miles",
    "ratio": {"give": 5, "get": 2},
    "expires_at": AT,
    "usually": {"half_s": 2.0, "most_s": 9.8},
    "reverses_for_s": None,
    "says": "This cannot be undone.",
}
EXCHANGE = {
    "exchange_id": ID,
    "programme": "skymiles",
    "version": 1,
    "partner": "skyline",
    "member_id": "b/ob",
    "direction": "out",
    "points": 2500,
    "fee": 0,
    "theirs": 1000,
    "state": "held",
    "reason": None,
    "detail": None,
    "reference": None,
    "late": False,
    "asked_at": AT,
    "sent_at": None,
    "credited_at": None,
    "ended_at": None,
}
TOLD = {**EXCHANGE, "reversible_until": None, "trail": [{"state": "held", "at": AT, "reason": None, "detail": None}]}
LINK = {
    "link_id": ID,
    "programme": "skymiles",
    "member_id": "b/ob",
    "number": "…5678",
    "status": "active",
    "reason": None,
    "asked_at": AT,
    "code_until": None,
    "verified_at": AT,
    "usable_from": AT,
    "ended_at": None,
    "way": None,
    "authorize_url": None,
}
INBOUND = {
    "id": "T/1",
    "state": "reserved",
    "points": 1000,
    "credit": 1500,
    "reason": None,
    "detail": None,
    "until": AT,
}
STATEMENT = {
    "programme": "skymiles",
    "date": "2026-11-28",
    "complete": True,
    "count": 1,
    "sums": {"points": 1000, "credit": 1500},
    "lines": [{"id": "T/1", "state": "awarded", "points": 1000, "credit": 1500, "at": AT}],
}
LINKS = "/v1/members/b%2Fob/links"

Asked = Callable[[EitherClient], Awaitable[Any]]


@pytest.mark.parametrize(
    ("asked", "answer", "request_", "body"),
    [
        (
            lambda of: ask(of.exchange_quote, "b/ob", "skymiles", target=1000),
            QUOTE,
            "POST /v1/exchange-quotes",
            {"member_id": "b/ob", "programme": "skymiles", "direction": "out", "target": 1000},
        ),
        (
            lambda of: ask(of.convert, UUID(ID), member_id="b/ob", idempotency_key="k"),
            EXCHANGE,
            "POST /v1/exchanges",
            {"quote_id": ID, "member_id": "b/ob"},
        ),
        (lambda of: ask(of.exchange, ID), TOLD, f"GET /v1/exchanges/{ID}", None),
        (lambda of: ask(of.cancel_exchange, ID), TOLD, f"POST /v1/exchanges/{ID}/cancel", None),
        (lambda of: ask(of.reverse_exchange, ID), TOLD, f"POST /v1/exchanges/{ID}/reverse", None),
        (
            lambda of: ask(of.link_account, "b/ob", "skymiles", "12345678", name="Bob Tan"),
            LINK,
            f"POST {LINKS}",
            {"programme": "skymiles", "number": "12345678", "name": "Bob Tan", "send_code": False},
        ),
        (
            lambda of: ask(of.verify_link, "b/ob", ID, code="012345"),
            LINK,
            f"POST {LINKS}/{ID}/verify",
            {"code": "012345"},
        ),
        (
            lambda of: ask(of.begin_sign_in, "b/ob", "skymiles", "com.app:/linked"),
            {**LINK, "way": "oauth", "authorize_url": "https://login.example/?state=s"},
            f"POST {LINKS}",
            {"programme": "skymiles", "oauth": {"redirect_uri": "com.app:/linked"}},
        ),
        (
            lambda of: ask(of.finish_sign_in, "b/ob", ID, code="c", state="s", iss="https://login.example"),
            {**LINK, "way": "oauth"},
            f"POST {LINKS}/{ID}/verify",
            {"oauth": {"code": "c", "state": "s", "iss": "https://login.example"}},
        ),
        (lambda of: ask(of.links, "b/ob"), {"member_id": "b/ob", "links": [LINK]}, f"GET {LINKS}", None),
        (lambda of: ask(of.unlink_account, "b/ob", ID), LINK, f"DELETE {LINKS}/{ID}", None),
        (
            lambda of: ask(of.reserve_inbound, "T/1", "12345678", 1000),
            INBOUND,
            "PUT /v1/inbound-exchanges/T%2F1",
            {"account": "12345678", "points": 1000},
        ),
        (lambda of: ask(of.commit_inbound, "T/1"), INBOUND, "POST /v1/inbound-exchanges/T%2F1/commit", None),
        (lambda of: ask(of.cancel_inbound, "T/1"), INBOUND, "POST /v1/inbound-exchanges/T%2F1/cancel", None),
        (lambda of: ask(of.inbound_exchange, "T/1"), INBOUND, "GET /v1/inbound-exchanges/T%2F1", None),
        (
            lambda of: ask(of.exchange_statement, "skymiles", date(2026, 11, 28)),
            STATEMENT,
            "GET /v1/exchange-statement?programme=skymiles&date=2026-11-28",
            None,
        ),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
async def test_what_is_sent_and_read(
    api: ScriptedApi, asked: Asked, answer: dict[str, Any], request_: str, body: dict[str, Any] | None
) -> None:
    api.answers(httpx.Response(200, json=answer))
    told = await asked(api.client())
    (sent,) = api.requests
    assert f"{sent.method} {sent.url.raw_path.decode()}" == request_
    assert (json.loads(sent.content) if sent.content else None) == body
    assert sent.headers.get("Idempotency-Key") == ("k" if request_ == "POST /v1/exchanges" else None)
    first = told[0] if isinstance(told, tuple) else told
    assert getattr(first, "points", 1000) in {1000, 2500}


async def test_exchanges_are_read_page_by_page(api: ScriptedApi) -> None:
    api.answers(
        httpx.Response(200, json={"member_id": "bob", "exchanges": [EXCHANGE, EXCHANGE], "next": "abc"}),
        httpx.Response(200, json={"member_id": "bob", "exchanges": [EXCHANGE], "next": None}),
    )
    found = await listed(api.client().exchanges("bob"))
    assert [each.state for each in found] == ["held"] * 3
    queries = [each.url.query.decode() for each in api.requests]
    assert queries == ["member_id=bob&limit=100", "member_id=bob&limit=100&cursor=abc"]


async def test_a_trail_and_a_statement_are_read(api: ScriptedApi) -> None:
    api.answers(httpx.Response(200, json=TOLD), httpx.Response(200, json=STATEMENT))
    client = api.client()
    assert [each.state for each in (await ask(client.exchange, ID)).trail] == ["held"]
    statement = await ask(client.exchange_statement, "skymiles", date(2026, 11, 28))
    assert (statement.date, statement.sums.credit, statement.lines[0].id) == (date(2026, 11, 28), 1500, "T/1")


@pytest.mark.parametrize(
    "call",
    [
        lambda of: ask(of.link_account, "bob", "skymiles", "12345678", send_code=True),
        lambda of: ask(of.verify_link, "bob", ID, code="012345"),
        lambda of: ask(of.finish_sign_in, "bob", ID, code="c", state="s"),
    ],
)
async def test_what_uses_up_a_code_is_not_done_again_while_nobody_knows_whether_it_was_done(
    api: ScriptedApi, call: Callable[[EitherClient], Awaitable[Any]]
) -> None:
    api.answers(problem(503, "unavailable"), httpx.ReadTimeout("slow"))
    with pytest.raises(Unavailable):
        await call(api.client())
    assert len(api.requests) == 2
