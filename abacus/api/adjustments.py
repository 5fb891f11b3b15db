"""The route by which a partner or a person adds or takes points."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from abacus.api.answer_schemas import MoveAnswer
from abacus.api.api_problem import ApiProblem, FieldFault
from abacus.api.auth import Call, caller_of
from abacus.api.idempotency import idempotency_key_of
from abacus.api.lean import read_body
from abacus.api.moves import KEY_HEADER, WAITS, answer_large, target_for
from abacus.api.route_description import MemberId, answered, described
from abacus.intake.partners.orders import AccountOpening, AdjustmentOrder, adjustment_of, opening_of
from abacus.people.types.deed import Deed

router = APIRouter(prefix="/v1", tags=["adjustments"], default_response_class=Response)


@router.post(
    "/members/{member_id:path}/adjustments",
    status_code=201,
    summary="Adjust a member's points",
    responses=answered({201: (MoveAnswer, "They are adjusted"), 202: WAITS}, 404, 409, 415, 422),
    openapi_extra=described(KEY_HEADER, body=AdjustmentOrder),
)
async def adjust(member_id: MemberId, request: Request) -> Response:
    """Add points or take them, as a person, or as a partner that may adjust. Above a size that the operator sets, a
    second person has to approve it first. A person who opens a member's first account says `new_member`.
    """
    call = caller_of(request)
    if isinstance(call, Call):
        call.check_adjusts()
    key = call.key(idempotency_key_of(request))
    order = await read_body(request, AdjustmentOrder.model_validate)
    if order.actor is not None and not isinstance(call, Call):
        detail = "your token says who you are: leave it out"
        raise ApiProblem("invalid", f"/actor: {detail}", errors=[FieldFault(pointer="/actor", detail=detail)])
    opening = AccountOpening.FIRST if isinstance(call, Call) else opening_of(order)
    target = await target_for(call, Deed.ADJUST, member_id, order, opening=opening)
    return await answer_large(call, adjustment_of(order, target, key, call.agent, call.access.clock.now()))
