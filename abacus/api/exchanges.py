"""The routes of exchanges: quotes, conversions, where an exchange stands, and undoing one."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from abacus.api.answers import json_answer
from abacus.api.api_problem import ApiProblem, FieldFault
from abacus.api.auth import Call, PersonCall, caller_of
from abacus.api.exchange_answers import (
    ExchangeAnswer,
    ExchangeOrder,
    ExchangePage,
    ExchangeQuoteAnswer,
    ExchangeQuoteOrder,
    ExchangesAnswer,
    ToldExchangeAnswer,
    exchange_facts,
    problem_of,
    quote_facts,
    told_facts,
)
from abacus.api.idempotency import idempotency_key_of
from abacus.api.lean import LeanRoute, read_body
from abacus.api.route_description import answered, described, key_header
from abacus.core.errors import Refused
from abacus.engage.asking.standings import Standings, standings_of
from abacus.exchanges.converter import Conversion
from abacus.exchanges.decide.exchange import ENDED, Exchange, State
from abacus.exchanges.decide.quote import Wish
from abacus.exchanges.exchange_desk import ExchangeDesk
from abacus.exchanges.exchange_rows import Place, Which
from abacus.intake.partners.members import MemberReader
from abacus.people.decide.rights import countries_of
from abacus.people.store.audit import entry_of, noted
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also, nothing_else

router = APIRouter(prefix="/v1", tags=["exchanges"], route_class=LeanRoute, default_response_class=Response)

ExchangeId = Annotated[UUID, Path()]


@router.post(
    "/exchange-quotes",
    status_code=201,
    summary="Ask what an exchange would be",
    responses=answered({201: (ExchangeQuoteAnswer, "It is good until its time is over")}, 404, 409, 415, 422),
    openapi_extra=described(body=ExchangeQuoteOrder),
)
async def quote(request: Request) -> Response:
    """Nothing is held. Rounding costs the member nothing: fewer points are taken where fewer buy the same."""
    call = _mover(request)
    order = await read_body(request, ExchangeQuoteOrder.model_validate)
    wish = Wish(order.member_id, order.programme, order.direction, order.points, order.target)
    desk = _desk(call)
    found = desk.programmes().by_name.get(order.programme)
    if found is not None:
        call.check(Deed.MOVE_POINTS, found.programme.country)
    try:
        quoted = await desk.quote(wish, await _standings(call, order.member_id), call.agent)
    except Refused as fault:
        raise problem_of(fault) from None
    return json_answer(quote_facts(quoted), 201)


@router.post(
    "/exchanges",
    status_code=202,
    summary="Exchange points",
    responses=answered(
        {201: (ExchangeAnswer, "It has ended"), 202: (ExchangeAnswer, "Its points are held, and it is gone on with")},
        *(404, 409, 415, 422),
    ),
    openapi_extra=described(key_header("exchange"), body=ExchangeOrder),
)
async def convert(request: Request) -> Response:
    """The points of the quote are held, and the partner is asked to credit its own. The points leave when it has, and
    are free again when it refuses. What is refused here holds nothing, and leaves the key free.
    """
    call = _mover(request)
    key = call.key(idempotency_key_of(request))
    order = await read_body(request, ExchangeOrder.model_validate)
    also = await _converting(call, order.quote_id) if isinstance(call, PersonCall) else nothing_else
    conversion = Conversion(order.quote_id, f"{call.agent.source}\n{key}", call.agent, order.member_id, also)
    try:
        exchange = await _desk(call).convert(conversion)
    except Refused as fault:
        raise problem_of(fault) from None
    return json_answer(exchange_facts(exchange, _now(call)), 201 if exchange.state in ENDED else 202)


@router.get(
    "/exchanges",
    summary="A member's exchanges",
    responses=answered({200: (ExchangesAnswer, "A page")}, 404, 422),
)
async def exchanges(request: Request, query: Annotated[ExchangePage, Query()]) -> Response:
    """The newest first. A partner sees its own exchanges, and all of them where the operator lets it; a person sees its
    countries. Follow `next` for the page after.
    """
    call = _reader(request)
    found = await _desk(call).listed(query.limit + 1, _which(call, query.member_id), _place(query.cursor))
    page = found[: query.limit]
    following = _cursor(page[-1]) if len(found) > query.limit else None
    listed = [exchange_facts(each, _now(call)) for each in page]
    return json_answer({"member_id": query.member_id, "exchanges": listed, "next": following})


@router.get(
    "/exchanges/{exchange_id}",
    summary="An exchange",
    responses=answered({200: (ToldExchangeAnswer, "With its trail")}, 404, 422),
)
async def exchange(exchange_id: ExchangeId, request: Request) -> Response:
    """Where it stands, and how it came there."""
    call = _reader(request)
    return await _told(call, await _found(call, exchange_id))


@router.post(
    "/exchanges/{exchange_id}/cancel",
    summary="Cancel an exchange",
    responses=answered({200: (ToldExchangeAnswer, "Its points are free")}, 404, 409, 422),
)
async def cancel(exchange_id: ExchangeId, request: Request) -> Response:
    """For what was not sent yet."""
    call = _mover(request)
    found = await _movable(call, exchange_id)
    also = _noted(call, found, "cancel-exchange")
    try:
        return await _told(call, await _desk(call).cancel(found, call.agent, also=also))
    except Refused as fault:
        raise problem_of(fault) from None


@router.post(
    "/exchanges/{exchange_id}/reverse",
    status_code=202,
    summary="Undo an exchange",
    responses=answered({202: (ToldExchangeAnswer, "The partner is asked")}, 404, 409, 422),
)
async def reverse(exchange_id: ExchangeId, request: Request) -> Response:
    """Where the partner takes back what it has credited. It debits first; then the points come back with the days that
    they had.
    """
    call = _mover(request)
    found = await _movable(call, exchange_id)
    also = _noted(call, found, "reverse-exchange")
    try:
        return await _told(call, await _desk(call).reverse(found, call.agent, also=also), 202)
    except Refused as fault:
        raise problem_of(fault) from None


def _desk(call: Call | PersonCall) -> ExchangeDesk:
    """Raises `ApiProblem`."""
    found = call.rooms.find(ExchangeDesk)
    if found is None:
        raise ApiProblem("not-found", "no exchanges are open here")
    return found


def _mover(request: Request) -> Call | PersonCall:
    """Raises `ApiProblem`."""
    call = caller_of(request)
    if isinstance(call, Call) and not call.partner.may_spend:
        raise ApiProblem("spending-not-allowed")
    call.check_somewhere(Deed.MOVE_POINTS)
    return call


def _reader(request: Request) -> Call | PersonCall:
    """Raises `ApiProblem`."""
    call = caller_of(request)
    call.check_somewhere(Deed.SEE)
    return call


async def _standings(call: Call | PersonCall, member_id: str) -> Standings:
    now = _now(call)
    accounts = [each.at(now) for each in await call.rooms[MemberReader].holdings(member_id)]
    return standings_of(accounts, is_open=lambda country: call.is_open(Deed.SEE, country))


async def _found(call: Call | PersonCall, exchange_id: UUID) -> Exchange:
    """Raises `ApiProblem`."""
    found = await _desk(call).one(exchange_id)
    if found is None or found.state is State.QUOTED or not _is_open(call, found):
        raise ApiProblem("not-found", "no such exchange is open to you")
    return found


async def _movable(call: Call | PersonCall, exchange_id: UUID) -> Exchange:
    """An exchange that the caller may undo. Raises `ApiProblem`."""
    found = await _found(call, exchange_id)
    call.check(Deed.MOVE_POINTS, found.country)
    if isinstance(call, Call) and not call.partner.owns(found.source) and not call.partner.may_adjust:
        detail = "another's exchange: this takes a partner that may adjust points"
        raise ApiProblem("adjustments-not-allowed", detail)
    return found


async def _converting(call: PersonCall, quote_id: UUID) -> Also:
    """The entry of the log for the quote, if it is there. Raises `ApiProblem`."""
    quote = await _desk(call).one(quote_id)
    if quote is None:
        return nothing_else
    call.check(Deed.MOVE_POINTS, quote.country)
    return _noted(call, quote, "convert-exchange")


def _noted(call: Call | PersonCall, each: Exchange, did: str) -> Also:
    """The entry of the log, for what a person does."""
    if isinstance(call, Call):
        return nothing_else
    about = {"did": did, "of": each.programme, "exchange": str(each.exchange_id)}
    subject, now = f"member:{each.member_id}", _now(call)
    return noted(entry_of(call.agent.source, Deed.MOVE_POINTS, subject, now, country=each.country, **about))


def _which(call: Call | PersonCall, member_id: str) -> Which:
    """The member's exchanges that the caller may see."""
    if isinstance(call, PersonCall):
        return Which(member_id, countries=countries_of(call.actor, Deed.SEE))
    source = None if call.partner.may_see_others else call.partner.source
    return Which(member_id, countries=call.partner.countries or None, source=source)


def _is_open(call: Call | PersonCall, each: Exchange) -> bool:
    if not call.is_open(Deed.SEE, each.country):
        return False
    return isinstance(call, PersonCall) or call.partner.may_see(each.source)


async def _told(call: Call | PersonCall, each: Exchange, status: int = 200) -> Response:
    return json_answer(told_facts(await _desk(call).told(each), _now(call)), status)


def _now(call: Call | PersonCall) -> datetime:
    return call.access.clock.now()


def _cursor(each: Exchange) -> str:
    return f"{each.quoted_at.isoformat()}_{each.exchange_id}"


def _place(cursor: str | None) -> Place | None:
    """Raises `ApiProblem`."""
    if cursor is None:
        return None
    at, _, exchange_id = cursor.partition("_")
    try:
        place = Place(datetime.fromisoformat(at), UUID(exchange_id))
    except ValueError:
        place = None
    if place is None or place.quoted_at.tzinfo is None:
        detail = "not a cursor that this API gave"
        raise ApiProblem("invalid", detail, errors=[FieldFault(pointer="query/cursor", detail=detail)])
    return place
