"""The routes by which a person adds or takes points, and a second person agrees."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, TypeAdapter
from starlette.responses import Response

from abacus.api import answers
from abacus.api.answer_schemas import AdjustmentAnswer, AdjustmentsAnswer, MoveAnswer
from abacus.api.auth import Call, call_of
from abacus.api.idempotency import idempotency_key_of
from abacus.api.lean import read_body
from abacus.api.moves import KEY_HEADER, MemberId, declined, described, posted, target_for
from abacus.api.problems import ApiProblem, documented
from abacus.core.errors import SetAside
from abacus.core.ids import partner_key
from abacus.intake.partners.decide.ask import ReasonText
from abacus.intake.partners.orders import AdjustmentOrder, Person, adjustment_of
from abacus.ledger.store.adjustments import CannotDecide, Requested, Step
from abacus.ledger.types.movement import Declined
from abacus.ledger.types.posting import Status

router = APIRouter(prefix="/v1", tags=["adjustments"])


class Approval(BaseModel):
    """The person who agrees; not the one who made the adjustment."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"actor": "ben@acme.example"}]})

    actor: Person


class Rejection(BaseModel):
    """The person who does not agree, and the reason."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"actor": "ben@acme.example", "reason": "No such complaint"}]}
    )

    actor: Person
    reason: ReasonText


_ORDER: Final[TypeAdapter[AdjustmentOrder]] = TypeAdapter(AdjustmentOrder)
_APPROVAL: Final[TypeAdapter[Approval]] = TypeAdapter(Approval)
_REJECTION: Final[TypeAdapter[Rejection]] = TypeAdapter(Rejection)


@router.post(
    "/members/{member_id:path}/adjustments",
    status_code=201,
    summary="Adjust a member's points",
    response_class=Response,
    responses={
        201: {"model": MoveAnswer, "description": "They are adjusted"},
        202: {"model": AdjustmentAnswer, "description": "It waits for a second person"},
        **documented(400, 403, 404, 409, 415, 422),
    },
    openapi_extra=described(KEY_HEADER, body=AdjustmentOrder),
)
async def adjust(member_id: MemberId, request: Request) -> Response:
    """Add points or take them, in a person's name. Above a size that the operator sets, a second person has to
    approve it first.
    """
    call = _adjuster(request)
    key = partner_key(call.partner.partner_id, idempotency_key_of(request))
    order = await read_body(request, _ORDER)
    target = await target_for(call, member_id, order, may_open=True)
    proposed = adjustment_of(order, target, key, call.partner.source, call.backends.clock.now())
    try:
        outcome = await call.backends.adjustments.ask(proposed, call.partner.partner_id)
    except CannotDecide as error:
        raise ApiProblem(error.kind, error.detail) from None
    if isinstance(outcome, Requested):
        return answers.json_answer(answers.adjustment(outcome), 202)
    headers = {"Idempotency-Replayed": "true"} if outcome.status is Status.DUPLICATE else {}
    return answers.json_answer(answers.moved(await posted(call, outcome)), 201, headers)


@router.get(
    "/adjustments",
    summary="Adjustments that need, or needed, a second person",
    response_class=Response,
    responses={200: {"model": AdjustmentsAnswer, "description": "The newest first"}, **documented(403, 422)},
)
async def adjustments(request: Request, status: Annotated[Step | None, Query()] = None) -> Response:
    """The adjustments in the countries that are open to you, a thousand at most."""
    call = _adjuster(request)
    adjustments = await call.backends.adjustments.all(status, call.partner.countries)
    return answers.json_answer({"adjustments": [answers.adjustment(each) for each in adjustments]})


@router.post(
    "/adjustments/{adjustment_id:uuid}/approve",
    status_code=201,
    summary="Approve an adjustment",
    response_class=Response,
    responses={
        201: {"model": MoveAnswer, "description": "It is posted"},
        **documented(403, 404, 409, 415, 422),
    },
    openapi_extra=described(body=Approval),
)
async def approve(adjustment_id: Annotated[UUID, Path()], request: Request) -> Response:
    """Approve as the second person. The adjustment is posted at once; a repetition by the same person gets the first
    answer.
    """
    call = _adjuster(request)
    approval = await read_body(request, _APPROVAL)
    adjustment = await _open_to(call, adjustment_id)
    if adjustment.status == Step.POSTED and adjustment.decided_by == approval.actor:
        claim = await call.backends.ledger.claim(adjustment.key)
        transfer = await call.backends.ledger.transfer(claim) if claim is not None else None
        if transfer is not None:
            return answers.json_answer(answers.moved(transfer), 201, {"Idempotency-Replayed": "true"})
    try:
        _, moved = await call.backends.adjustments.approve(adjustment_id, approval.actor)
    except CannotDecide as error:
        raise ApiProblem(error.kind, error.detail) from None
    except (Declined, SetAside) as fault:
        raise declined(fault) from None
    return answers.json_answer(answers.moved(await posted(call, moved)), 201)


@router.post(
    "/adjustments/{adjustment_id:uuid}/reject",
    summary="Reject an adjustment",
    response_class=Response,
    responses={
        200: {"model": AdjustmentAnswer, "description": "It is rejected"},
        **documented(403, 404, 409, 415, 422),
    },
    openapi_extra=described(body=Rejection),
)
async def reject(adjustment_id: Annotated[UUID, Path()], request: Request) -> Response:
    """Reject the adjustment: nothing is posted."""
    call = _adjuster(request)
    rejection = await read_body(request, _REJECTION)
    await _open_to(call, adjustment_id)
    try:
        rejected = await call.backends.adjustments.reject(adjustment_id, rejection.actor, rejection.reason)
    except CannotDecide as error:
        raise ApiProblem(error.kind, error.detail) from None
    return answers.json_answer(answers.adjustment(rejected))


def _adjuster(request: Request) -> Call:
    call = call_of(request)
    if not call.partner.may_adjust:
        raise ApiProblem("adjustments-not-allowed")
    return call


async def _open_to(call: Call, adjustment_id: UUID) -> Requested:
    adjustment = await call.backends.adjustments.find(adjustment_id)
    if adjustment is None or not call.partner.may_award_in(adjustment.country):
        raise ApiProblem("not-found", "no such adjustment is open to you")
    return adjustment
