"""The routes of what points buy: rewards for a member, redeeming, giving back, and what fulfillers report."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from abacus.api.answers import json_answer
from abacus.api.api_problem import ApiProblem, FieldFault
from abacus.api.auth import Call, PersonCall, caller_of
from abacus.api.idempotency import idempotency_key_of
from abacus.api.lean import LeanRoute, read_body
from abacus.api.redemption_answers import (
    FulfilmentReport,
    RedemptionAnswer,
    RedemptionOrder,
    RedemptionPage,
    RedemptionsAnswer,
    Reported,
    listed_reward,
    problem_of_lock,
    redemption_facts,
)
from abacus.api.route_description import MemberId, answered, described, key_header
from abacus.core.errors import Absent, Unavailable
from abacus.engage.asking.standings import Standings, standings_of
from abacus.engage.rewards.decide.draft import Ask
from abacus.engage.rewards.decide.place import Place
from abacus.engage.rewards.decide.price import Locked
from abacus.engage.rewards.decide.redemption import Redemption
from abacus.engage.rewards.redeemer import KeyReused
from abacus.engage.rewards.redemption_desk import RedemptionDesk, RedemptionState
from abacus.intake.partners.members import MemberReader
from abacus.people.types.deed import Deed
from abacus.platform.encryption import SecretUnreadable

router = APIRouter(prefix="/v1", tags=["redemptions"], route_class=LeanRoute, default_response_class=Response)

RedemptionId = Annotated[UUID, Path()]


@router.post(
    "/members/{member_id:path}/redemptions",
    status_code=201,
    summary="Redeem a reward",
    responses=answered({201: (RedemptionAnswer, "It is paid, and given or sent")}, 404, 409, 415, 422),
    openapi_extra=described(key_header("redemption"), body=RedemptionOrder),
)
async def redeem(member_id: MemberId, request: Request) -> Response:
    """Points are held, stock and codes are taken, then the points are paid; what fails takes nothing. The same key and
    facts give the first answer again, with the same code. A refusal is told again under its key, too.
    """
    call = _spender(request)
    key = call.key(idempotency_key_of(request))
    order = await read_body(request, RedemptionOrder.model_validate)
    desk = _desk(call)
    await _check_country(call, desk, order.reward, key)
    ask = Ask(key, member_id, order.reward, order.quantity, order.points, call.agent)
    try:
        found = await desk.redeem(ask, await _standings(call, member_id))
    except Locked as fault:
        raise problem_of_lock(fault) from None
    except Absent as fault:
        raise ApiProblem("not-found", str(fault)) from None
    except KeyReused as fault:
        raise ApiProblem("idempotency-key-reused", str(fault)) from None
    return json_answer(await _document(call, found), 201)


@router.get(
    "/members/{member_id:path}/redemptions",
    summary="A member's redemptions",
    responses=answered({200: (RedemptionsAnswer, "A page, without codes")}, 404, 422),
)
async def redemptions(member_id: MemberId, request: Request, query: Annotated[RedemptionPage, Query()]) -> Response:
    """The newest first. A partner sees its own redemptions, and all of them where the operator lets it; a person sees
    its countries. Follow `next` for the page after.
    """
    call = _reader(request)
    desk, place, shown = _desk(call), _place(query.cursor), list[Redemption]()
    while len(shown) <= query.limit:
        found = await desk.of_member(member_id, query.limit + 1, place)
        shown += [each for each in found if _is_open(call, each)]
        if len(found) <= query.limit:
            break
        place = Place.of(found[-1])
    page, now = shown[: query.limit], call.access.clock.now()
    following = Place.of(page[-1]).text if len(shown) > query.limit else None
    listed = [redemption_facts(each, now) for each in page]
    return json_answer({"member_id": member_id, "redemptions": listed, "next": following})


@router.get(
    "/members/{member_id:path}/redemptions/{redemption_id}",
    summary="A redemption",
    responses=answered({200: (RedemptionAnswer, "With its code")}, 404, 422),
)
async def redemption(member_id: MemberId, redemption_id: RedemptionId, request: Request) -> Response:
    """Where it stands, and its code."""
    call = _reader(request)
    return json_answer(await _document(call, await _found(call, member_id, redemption_id)))


@router.post(
    "/members/{member_id:path}/redemptions/{redemption_id}/cancel",
    summary="Cancel a redemption",
    responses=answered({200: (RedemptionAnswer, "The points are back")}, 404, 409, 422),
)
async def cancel(member_id: MemberId, redemption_id: RedemptionId, request: Request) -> Response:
    """For what the fulfiller has not delivered. The points come back with the days that they had."""
    call = _spender(request)
    found = await _found(call, member_id, redemption_id)
    try:
        return json_answer(await _document(call, await _desk(call).cancel(found)))
    except RedemptionState as fault:
        raise ApiProblem("redemption-state", str(fault)) from None


@router.post(
    "/members/{member_id:path}/redemptions/{redemption_id}/return",
    summary="Return a redemption",
    responses=answered({200: (RedemptionAnswer, "The points are back")}, 404, 409, 422),
)
async def bring_back(member_id: MemberId, redemption_id: RedemptionId, request: Request) -> Response:
    """For what the member had. The points come back with the days that they had; the piece and its code stay used."""
    call = _spender(request)
    found = await _found(call, member_id, redemption_id)
    try:
        return json_answer(await _document(call, await _desk(call).bring_back(found)))
    except RedemptionState as fault:
        raise ApiProblem("redemption-state", str(fault)) from None


@router.post(
    "/members/{member_id:path}/redemptions/{redemption_id}/fulfilment",
    summary="Report what became of a redemption",
    responses=answered({200: (RedemptionAnswer, "It is noted")}, 404, 409, 415, 422),
    openapi_extra=described(body=FulfilmentReport),
)
async def report(member_id: MemberId, redemption_id: RedemptionId, request: Request) -> Response:
    """For the partner that the reward names, and people of the house. What failed is cancelled."""
    call = caller_of(request)
    body = await read_body(request, FulfilmentReport.model_validate)
    call.check_somewhere(Deed.MOVE_POINTS)
    desk = _desk(call)
    found = await desk.one(member_id, redemption_id)
    if found is None or not _may_report(call, found):
        raise ApiProblem("not-found", "no such redemption is yours to report on")
    try:
        told = await desk.report(found, fulfilled=body.state is Reported.FULFILLED, detail=body.detail)
    except RedemptionState as fault:
        raise ApiProblem("redemption-state", str(fault)) from None
    return json_answer(redemption_facts(told, call.access.clock.now()))


async def rewards_of(call: Call | PersonCall, member_id: str) -> Response:
    """The rewards that are there for a member, the cheapest first, each with what is against it."""
    if isinstance(call, Call) and not call.partner.reads_all:
        raise ApiProblem("members-not-allowed")
    call.check_somewhere(Deed.SEE)
    standings = await _standings(call, member_id)
    if not standings:
        raise ApiProblem("not-found", "no account of this member is open to you")
    found = await _desk(call).listed(member_id, standings)
    return json_answer(
        {
            "member_id": member_id,
            "rewards": [listed_reward(each) for each in found.listed],
            "degraded": found.is_degraded,
        }
    )


def _desk(call: Call | PersonCall) -> RedemptionDesk:
    return call.rooms[RedemptionDesk]


def _spender(request: Request) -> Call | PersonCall:
    """Raises `ApiProblem`."""
    call = caller_of(request)
    if isinstance(call, Call) and not call.partner.may_spend:
        raise ApiProblem("spending-not-allowed")
    call.check_somewhere(Deed.MOVE_POINTS)
    return call


def _place(cursor: str | None) -> Place | None:
    """Raises `ApiProblem`."""
    try:
        return None if cursor is None else Place.read(cursor)
    except ValueError:
        detail = "not a cursor that this API gave"
        raise ApiProblem("invalid", detail, errors=[FieldFault(pointer="query/cursor", detail=detail)]) from None


def _reader(request: Request) -> Call | PersonCall:
    """Raises `ApiProblem`."""
    call = caller_of(request)
    call.check_somewhere(Deed.SEE)
    return call


async def _check_country(call: Call | PersonCall, desk: RedemptionDesk, name: str, key: str) -> None:
    """Of the reward in force, or of what was asked for under the key before. Raises `ApiProblem`."""
    reward = desk.reward(name)
    before = await desk.of_key(key) if reward is None else None
    country = reward.country if reward is not None else before.country if before is not None else None
    if country is not None:
        call.check(Deed.MOVE_POINTS, country)


async def _standings(call: Call | PersonCall, member_id: str) -> Standings:
    """By program, of the accounts that are open to the caller, as they are now."""
    now = call.access.clock.now()
    accounts = [each.at(now) for each in await call.rooms[MemberReader].holdings(member_id)]
    return standings_of(accounts, is_open=lambda country: call.is_open(Deed.SEE, country))


async def _found(call: Call | PersonCall, member_id: str, redemption_id: UUID) -> Redemption:
    """Raises `ApiProblem`."""
    found = await _desk(call).one(member_id, redemption_id)
    if found is None or not _is_open(call, found):
        raise ApiProblem("not-found", "no such redemption is open to you")
    return found


def _is_open(call: Call | PersonCall, each: Redemption) -> bool:
    if not call.is_open(Deed.SEE, each.country):
        return False
    return isinstance(call, PersonCall) or call.partner.may_see(each.source)


def _may_report(call: Call | PersonCall, each: Redemption) -> bool:
    if isinstance(call, PersonCall):
        return call.is_open(Deed.MOVE_POINTS, each.country)
    return each.partner == call.partner.partner_id


async def _document(call: Call | PersonCall, each: Redemption) -> dict[str, Any]:
    """With its codes. Raises `Unavailable`."""
    document = redemption_facts(each, call.access.clock.now())
    try:
        codes = await _desk(call).codes(each)
    except SecretUnreadable as fault:
        raise Unavailable("codes", str(fault)) from None
    if len(codes) == 1:
        document["code"] = codes[0]
    elif codes:
        document["codes"] = list(codes)
    return document
