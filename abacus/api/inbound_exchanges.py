"""The routes of what comes in, for partners: they mirror what the house asks of partners."""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from abacus.api.answers import json_answer
from abacus.api.api_problem import ApiProblem
from abacus.api.auth import Call, caller_of
from abacus.api.exchange_answers import INBOUND_ID, InboundAnswer, InboundOrder, inbound_facts
from abacus.api.lean import LeanRoute, read_body
from abacus.api.route_description import answered, described
from abacus.exchanges.decide.exchange import Exchange, State
from abacus.exchanges.decide.inbound import Ended
from abacus.exchanges.inbound_desk import InboundDesk, Reservation

router = APIRouter(
    prefix="/v1/inbound-exchanges", tags=["exchanges"], route_class=LeanRoute, default_response_class=Response
)

InboundId = Annotated[str, Path(pattern=INBOUND_ID)]


@router.put(
    "/{id}",
    summary="Reserve what a member of yours brings",
    responses=answered({200: (InboundAnswer, "It is reserved, or further")}, 404, 409, 415, 422),
    openapi_extra=described(body=InboundOrder),
)
async def reserve(id: InboundId, request: Request) -> Response:  # noqa: A002  # as the path has it
    """Link, limits and programme are looked at, and no points are moved. A refusal is one for ever: take another id.
    The same id with other facts is a conflict.
    """
    call = exchanging_partner(request)
    order = await read_body(request, InboundOrder.model_validate)
    try:
        found = await _desk(call).reserve(call.partner.partner_id, id, order.account, order.points)
    except Reservation as fault:
        raise ApiProblem("exchange-id-reused", str(fault)) from None
    if found.state is State.DROPPED:
        raise _refusal(found)
    return json_answer(inbound_facts(found))


@router.post(
    "/{id}/commit",
    status_code=202,
    summary="Commit what you hold",
    responses=answered({200: (InboundAnswer, "It is awarded"), 202: (InboundAnswer, "It will be")}, 404, 409, 422),
)
async def commit(id: InboundId, request: Request) -> Response:  # noqa: A002  # as above
    """From now on it is awarded, whatever happens: capture what you hold. What was dropped is refused for ever."""
    call = exchanging_partner(request)
    found = await _desk(call).commit(call.partner.partner_id, id)
    if found is None:
        raise ApiProblem("not-found", "no such exchange of yours was reserved")
    if found.state is State.DROPPED:
        raise _refusal(found)
    return json_answer(inbound_facts(found), 200 if found.state is State.AWARDED else 202)


@router.post(
    "/{id}/cancel",
    summary="Cancel what was not committed",
    responses=answered({200: (InboundAnswer, "It is dropped; or committed, as it was before")}, 404, 422),
)
async def cancel(id: InboundId, request: Request) -> Response:  # noqa: A002  # as above
    """The id is refused for ever, also where it was never heard of. What was committed before says so: capture it."""
    call = exchanging_partner(request)
    return json_answer(inbound_facts(await _desk(call).cancel(call.partner.partner_id, id)))


@router.get("/{id}", summary="Where it stands", responses=answered({200: (InboundAnswer, "Its state")}, 404, 422))
async def inbound(id: InboundId, request: Request) -> Response:  # noqa: A002  # as above
    """The first message may still be on its way while this says that nobody knows the id."""
    call = exchanging_partner(request)
    found = await _desk(call).one(call.partner.partner_id, id)
    if found is None:
        raise ApiProblem("not-found", "no such exchange of yours was reserved")
    return json_answer(inbound_facts(found))


def exchanging_partner(request: Request) -> Call:
    """A partner that may exchange. Raises `ApiProblem`."""
    call = caller_of(request)
    if not isinstance(call, Call):
        raise ApiProblem("partner-needed")
    if not call.partner.may_exchange:
        raise ApiProblem("exchanges-not-allowed")
    return call


def _desk(call: Call) -> InboundDesk:
    """Raises `ApiProblem`."""
    found = call.rooms.find(InboundDesk)
    if found is None:
        raise ApiProblem("not-found", "no exchanges are open here")
    return found


def _refusal(found: Exchange) -> ApiProblem:
    """Its type is one of the contract's list, or the tombstone."""
    reason = found.reason or Ended.CANCELLED
    kind = "exchange-dropped" if reason in set(Ended) else reason
    return ApiProblem(kind, found.detail or f"{found.reference} is refused for ever: {reason}")
