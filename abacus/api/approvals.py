"""The routes by which people see what waits for a second person, and decide on it."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from abacus.api import answers
from abacus.api.answer_schemas import AdjustmentsAnswer, ApprovalAnswer, ApprovalsAnswer, MoveAnswer, PendingAnswer
from abacus.api.api_problem import ApiProblem
from abacus.api.auth import PersonCall, caller_of, person_of
from abacus.api.lean import read_body
from abacus.api.route_description import answered, described
from abacus.core.errors import Unavailable
from abacus.intake.partners.decide.ask import ReasonText
from abacus.ledger.store.large_moves import LargeMoves
from abacus.ledger.store.read import LedgerReader
from abacus.people.decide.agreement import sees
from abacus.people.decide.rights import countries_of
from abacus.people.types.approval import Approval, ApprovalKind, Status
from abacus.people.types.deed import Deed

router = APIRouter(prefix="/v1", tags=["approvals"], default_response_class=Response)

_SHOWN: Final = "3f2a9c1be07d5511"


class Approving(BaseModel):
    """The digest of what was looked at: all of it, or its first characters, at least eight."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"digest": _SHOWN}]})

    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{8,64}$")]


class Rejecting(BaseModel):
    """The reason why not."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"reason": "No such complaint"}]})

    reason: ReasonText


ApprovalId = Annotated[UUID, Path()]


@router.get(
    "/approvals",
    summary="What needs, or needed, a second person",
    responses=answered({200: (ApprovalsAnswer, "The newest first")}, 422),
)
async def approvals(
    request: Request,
    status: Annotated[Status | None, Query()] = None,
    kind: Annotated[ApprovalKind | None, Query()] = None,
) -> Response:
    """The approvals in the countries that your roles open, a thousand at most."""
    shown = await _seen(person_of(request), status, kind)
    return answers.json_answer({"approvals": [answers.approval(each) for each in shown]})


@router.get(
    "/approvals/{approval_id:uuid}",
    summary="One approval",
    responses=answered({200: (ApprovalAnswer, "The approval")}, 404, 422),
)
async def approval(approval_id: ApprovalId, request: Request) -> Response:
    """An approval with the document that takes effect, and its digest."""
    return answers.json_answer(answers.approval(await _open_to(person_of(request), approval_id)))


@router.post(
    "/approvals/{approval_id:uuid}/approve",
    summary="Approve",
    responses=answered({200: (ApprovalAnswer, "It has taken effect")}, 404, 409, 415, 422),
    openapi_extra=described(body=Approving),
)
async def approve(approval_id: ApprovalId, request: Request) -> Response:
    """Approve as the second person, by the digest of what you looked at. It takes effect at once. After no answer,
    approve again: it takes effect once.
    """
    return answers.json_answer(answers.approval(await _approved(approval_id, request)))


@router.post(
    "/approvals/{approval_id:uuid}/reject",
    summary="Reject, or withdraw",
    responses=answered({200: (ApprovalAnswer, "It is rejected")}, 404, 409, 415, 422),
    openapi_extra=described(body=Rejecting),
)
async def reject(approval_id: ApprovalId, request: Request) -> Response:
    """Reject it: nothing happens. Who asked for it withdraws it so."""
    return answers.json_answer(answers.approval(await _rejected(approval_id, request)))


@router.get(
    "/adjustments",
    summary="Adjustments that need, or needed, a second person",
    responses=answered({200: (AdjustmentsAnswer, "The newest first")}, 422),
    tags=["adjustments"],
)
async def adjustments(request: Request, status: Annotated[Status | None, Query()] = None) -> Response:
    """A person sees the adjustments in the countries that its roles open, and a partner sees its own requests; a
    thousand at most.
    """
    call = caller_of(request)
    if isinstance(call, PersonCall):
        shown = await _seen(call, status, ApprovalKind.ADJUSTMENT)
    else:
        call.check_adjusts()
        room = call.rooms[LargeMoves].approvals
        shown = await room.all(status=status, kinds=[ApprovalKind.ADJUSTMENT], asked_by=call.partner.source)
    return answers.json_answer({"adjustments": [answers.pending(each) for each in shown]})


@router.post(
    "/adjustments/{adjustment_id:uuid}/approve",
    status_code=201,
    summary="Approve an adjustment",
    responses=answered({201: (MoveAnswer, "It is posted")}, 404, 409, 415, 422),
    openapi_extra=described(body=Approving),
    tags=["adjustments"],
)
async def approve_adjustment(adjustment_id: ApprovalId, request: Request) -> Response:
    """Approve an adjustment as the second person, with a person's token; the answer is the transfer."""
    approved = await _approved(adjustment_id, request, ApprovalKind.ADJUSTMENT)
    ledger = person_of(request).rooms[LedgerReader]
    claim = await ledger.claim(approved.subject)
    transfer = await ledger.transfer(claim) if claim is not None else None
    if transfer is None:
        raise Unavailable("ledger", "what was posted cannot be read")
    return answers.json_answer(answers.moved(transfer), 201)


@router.post(
    "/adjustments/{adjustment_id:uuid}/reject",
    summary="Reject an adjustment",
    responses=answered({200: (PendingAnswer, "It is rejected")}, 404, 409, 415, 422),
    openapi_extra=described(body=Rejecting),
    tags=["adjustments"],
)
async def reject_adjustment(adjustment_id: ApprovalId, request: Request) -> Response:
    """Reject an adjustment with a person's token: nothing is posted."""
    rejected = await _rejected(adjustment_id, request, ApprovalKind.ADJUSTMENT)
    return answers.json_answer(answers.pending(rejected))


async def _approved(approval_id: UUID, request: Request, kind: ApprovalKind | None = None) -> Approval:
    call, body = person_of(request), await read_body(request, Approving.model_validate)
    await _open_to(call, approval_id, kind)
    return await call.rooms[LargeMoves].approvals.approve(approval_id, call.actor, body.digest)


async def _rejected(approval_id: UUID, request: Request, kind: ApprovalKind | None = None) -> Approval:
    call, body = person_of(request), await read_body(request, Rejecting.model_validate)
    await _open_to(call, approval_id, kind)
    return await call.rooms[LargeMoves].approvals.reject(approval_id, call.actor, body.reason)


async def _seen(call: PersonCall, status: Status | None, kind: ApprovalKind | None) -> list[Approval]:
    kinds, countries = None if kind is None else [kind], countries_of(call.actor, Deed.SEE)
    return await call.rooms[LargeMoves].approvals.all(status=status, kinds=kinds, countries=countries)


async def _open_to(call: PersonCall, approval_id: UUID, kind: ApprovalKind | None = None) -> Approval:
    """Raises `ApiProblem` for an approval that the person may not see."""
    approval = await call.rooms[LargeMoves].approvals.find(approval_id)
    if approval is None or kind not in {None, approval.kind} or not sees(call.actor, approval):
        raise ApiProblem("not-found", "no such approval is open to you")
    return approval
