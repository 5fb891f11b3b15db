"""The calls about exchanges with partners: of members, and of the partners themselves. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal
from urllib.parse import urlencode
from uuid import UUID

import httpx

from abacus_client.answers import Page
from abacus_client.calls import ON_PAGE, Call, as_json, checked_key, named, part
from abacus_client.decode import read_answer
from abacus_client.exchange_answers import (
    AccountLink,
    Direction,
    Exchange,
    ExchangeQuote,
    ExchangeStatement,
    InboundExchange,
)


@dataclass(frozen=True, slots=True)
class _Exchanges:
    exchanges: tuple[Exchange, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class _Links:
    links: tuple[AccountLink, ...]


def quote(
    member_id: str, programme: str, direction: Direction, points: int | None, target: int | None
) -> Call[ExchangeQuote]:
    body = named(member_id=member_id, programme=programme, direction=direction, points=points, target=target)
    return Call("POST", "/v1/exchange-quotes", _quote, as_json(body))


def convert(quote_id: UUID | str, member_id: str | None, idempotency_key: str | None) -> Call[Exchange]:
    key = checked_key(idempotency_key)
    body = as_json(named(quote_id=str(quote_id), member_id=member_id))
    return Call("POST", "/v1/exchanges", _exchange, body, (key,), headers={"Idempotency-Key": key})


def exchange(exchange_id: UUID | str) -> Call[Exchange]:
    return Call("GET", f"/v1/exchanges/{part(str(exchange_id))}", _exchange)


def exchanges(member_id: str, cursor: str | None) -> Call[Page[Exchange]]:
    query = urlencode(named(member_id=member_id, limit=ON_PAGE, cursor=cursor))
    return Call("GET", f"/v1/exchanges?{query}", _exchanges)


def undo(exchange_id: UUID | str, how: Literal["cancel", "reverse"]) -> Call[Exchange]:
    """The exchange is its own key: it is undone once."""
    return Call("POST", f"/v1/exchanges/{part(str(exchange_id))}/{how}", _exchange)


def link(member_id: str, programme: str, number: str, name: str | None, *, send_code: bool) -> Call[AccountLink]:
    """Asked for again, it is the same link once it is verified, and else a new one with a new code."""
    body = named(programme=programme, number=number, name=name, send_code=send_code)
    return Call("POST", _links_of(member_id), _link, as_json(body), once=send_code)


def verify(member_id: str, link_id: UUID | str, code: str | None) -> Call[AccountLink]:
    path = f"{_links_of(member_id)}/{part(str(link_id))}/verify"
    return Call("POST", path, _link, as_json(named(code=code)), once=code is not None)


def begin_sign_in(member_id: str, programme: str, redirect_uri: str) -> Call[AccountLink]:
    """Asked for again, it is a new link: the address of the one before leads nowhere any more."""
    body = {"programme": programme, "oauth": {"redirect_uri": redirect_uri}}
    return Call("POST", _links_of(member_id), _link, as_json(body), once=True)


def finish_sign_in(member_id: str, link_id: UUID | str, code: str, state: str, iss: str | None) -> Call[AccountLink]:
    """The partner takes a code once."""
    path = f"{_links_of(member_id)}/{part(str(link_id))}/verify"
    return Call("POST", path, _link, as_json({"oauth": named(code=code, state=state, iss=iss)}), once=True)


def unlink(member_id: str, link_id: UUID | str) -> Call[AccountLink]:
    return Call("DELETE", f"{_links_of(member_id)}/{part(str(link_id))}", _link)


def links(member_id: str) -> Call[tuple[AccountLink, ...]]:
    return Call("GET", _links_of(member_id), _links)


def reserve(id_: str, account: str, points: int) -> Call[InboundExchange]:
    """The id is the key."""
    return Call("PUT", _inbound_of(id_), _inbound, as_json({"account": account, "points": points}))


def inbound(id_: str) -> Call[InboundExchange]:
    return Call("GET", _inbound_of(id_), _inbound)


def decide(id_: str, how: Literal["commit", "cancel"]) -> Call[InboundExchange]:
    return Call("POST", f"{_inbound_of(id_)}/{how}", _inbound)


def statement(programme: str, day: date) -> Call[ExchangeStatement]:
    query = urlencode({"programme": programme, "date": day.isoformat()})
    return Call("GET", f"/v1/exchange-statement?{query}", _statement)


def _links_of(member_id: str) -> str:
    return f"/v1/members/{part(member_id)}/links"


def _inbound_of(id_: str) -> str:
    return f"/v1/inbound-exchanges/{part(id_)}"


def _quote(answer: httpx.Response, _: Sequence[str]) -> ExchangeQuote:
    return read_answer(ExchangeQuote, answer)


def _exchange(answer: httpx.Response, _: Sequence[str]) -> Exchange:
    return read_answer(Exchange, answer)


def _exchanges(answer: httpx.Response, _: Sequence[str]) -> Page[Exchange]:
    page = read_answer(_Exchanges, answer)
    return Page(page.exchanges, page.next)


def _link(answer: httpx.Response, _: Sequence[str]) -> AccountLink:
    return read_answer(AccountLink, answer)


def _links(answer: httpx.Response, _: Sequence[str]) -> tuple[AccountLink, ...]:
    return read_answer(_Links, answer).links


def _inbound(answer: httpx.Response, _: Sequence[str]) -> InboundExchange:
    return read_answer(InboundExchange, answer)


def _statement(answer: httpx.Response, _: Sequence[str]) -> ExchangeStatement:
    return read_answer(ExchangeStatement, answer)
