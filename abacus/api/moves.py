"""The routes that move a member's points: spend, hold, capture, release, reverse."""

from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Path, Request
from pydantic import TypeAdapter
from starlette.responses import Response

from abacus.api import answers
from abacus.api.answer_schemas import HoldsAnswer, MoveAnswer, PendingAnswer
from abacus.api.api_problem import ApiProblem
from abacus.api.auth import Call, PersonCall, call_of, caller_of
from abacus.api.hot_paths import Address
from abacus.api.idempotency import idempotency_key_of
from abacus.api.lean import LeanRoute, read_body
from abacus.api.problems import problem_of
from abacus.api.route_description import MemberId, answered, described, key_header
from abacus.core.errors import Unavailable
from abacus.intake.earning.decide.calculate import Calculator
from abacus.intake.partners.calculations import Calculations
from abacus.intake.partners.members import MemberReader
from abacus.intake.partners.movement_batcher import MovementBatcher
from abacus.intake.partners.orders import (
    AccountOpening,
    CaptureOrder,
    HoldOrder,
    ReverseOrder,
    SpendOrder,
    Target,
    capture_of,
    card_now,
    hold_of,
    let_go,
    parse_transfer_id,
    reversal_of,
    spend_of,
    target_of,
)
from abacus.ledger.decide.reused_key import reused_by
from abacus.ledger.store.holds import HoldReader
from abacus.ledger.store.large_moves import LargeMoves
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.account import Account
from abacus.ledger.types.movement import Adjustment, Capture, Hold, Moved, Movement, Release, Reversal
from abacus.ledger.types.port import Status
from abacus.ledger.types.transfer import Transfer
from abacus.people.types.approval import Approval
from abacus.people.types.deed import Deed
from abacus.pricing.decide.card import PublishedCard

router = APIRouter(prefix="/v1", tags=["points"], route_class=LeanRoute, default_response_class=Response)

LEAN: Final = (
    Address("POST", "/v1/members/{member_id:path}/spend"),
    Address("POST", "/v1/members/{member_id:path}/holds"),
    Address("POST", "/v1/members/{member_id:path}/holds/{hold_id}/capture"),
    Address("POST", "/v1/members/{member_id:path}/holds/{hold_id}/release"),
)

KEY_HEADER: Final = key_header("movement")
WAITS: Final = (PendingAnswer, "It waits for a second person")

_CAPTURE: Final[TypeAdapter[CaptureOrder | None]] = TypeAdapter(CaptureOrder | None)
_REVERSE: Final[TypeAdapter[ReverseOrder | None]] = TypeAdapter(ReverseOrder | None)


@router.post(
    "/members/{member_id:path}/spend",
    status_code=201,
    summary="Spend a member's points",
    responses=answered({201: (MoveAnswer, "They are spent")}, 404, 409, 415, 422),
    openapi_extra=described(KEY_HEADER, body=SpendOrder),
)
async def spend(member_id: MemberId, request: Request) -> Response:
    """Points are spent at once, never more than are available. The same key and facts give the first answer again."""
    call = spender(request)
    key = call.key(idempotency_key_of(request))
    order = await read_body(request, SpendOrder.model_validate)
    target = await target_for(call, Deed.MOVE_POINTS, member_id, order)
    return await moved_answer(call, spend_of(order, target, key, call.agent))


@router.post(
    "/members/{member_id:path}/holds",
    status_code=201,
    summary="Hold a member's points",
    responses=answered({201: (MoveAnswer, "They are held")}, 404, 409, 415, 422),
    openapi_extra=described(KEY_HEADER, body=HoldOrder),
)
async def hold(member_id: MemberId, request: Request) -> Response:
    """Held points can be spent by nobody else until you capture or release them, or `expires_in` seconds are over."""
    call = spender(request)
    key = call.key(idempotency_key_of(request))
    order = await read_body(request, HoldOrder.model_validate)
    target = await target_for(call, Deed.MOVE_POINTS, member_id, order)
    return await moved_answer(call, hold_of(order, target, key, call.agent, call.access.clock.now()))


@router.get(
    "/members/{member_id:path}/holds",
    summary="A member's open holds",
    responses=answered({200: (HoldsAnswer, "Yours, the first to end first")}, 404, 422),
)
async def holds(member_id: MemberId, request: Request) -> Response:
    """The holds that you placed and that are open."""
    call = spender(request)
    mine = await call.rooms[HoldReader].open_holds(member_id, source=call.partner.source)
    return answers.json_answer({"member_id": member_id, "holds": [answers.hold(each) for each in mine]})


@router.post(
    "/members/{member_id:path}/holds/{hold_id}/capture",
    status_code=201,
    summary="Spend held points",
    responses=answered({201: (MoveAnswer, "It is spent")}, 404, 409, 415, 422),
    openapi_extra=described(body=CaptureOrder, required=False),
)
async def capture(member_id: MemberId, hold_id: Annotated[UUID, Path()], request: Request) -> Response:
    """Capture all of a hold, or `points` of it; the rest is released. A hold is captured once; a repetition gets the
    first answer.
    """
    call = spender(request)
    order = await read_body(request, _CAPTURE.validate_python) or CaptureOrder()
    held = await _hold(call, member_id, hold_id)
    return await moved_answer(call, capture_of(order, held, call.agent))


@router.post(
    "/members/{member_id:path}/holds/{hold_id}/release",
    status_code=201,
    summary="Release held points",
    responses=answered({201: (MoveAnswer, "It is released")}, 404, 409, 422),
)
async def release(member_id: MemberId, hold_id: Annotated[UUID, Path()], request: Request) -> Response:
    """The points are available again."""
    call = spender(request)
    held = await _hold(call, member_id, hold_id)
    return await moved_answer(call, let_go(held, call.agent))


@router.post(
    "/transfers/{transfer_id:path}/reverse",
    status_code=201,
    summary="Take a transfer back",
    responses=answered({201: (MoveAnswer, "It is taken back"), 202: WAITS}, 404, 409, 415, 422),
    openapi_extra=described(KEY_HEADER, body=ReverseOrder, required=False),
)
async def reverse(transfer_id: Annotated[str, Path(max_length=300)], request: Request) -> Response:
    """Take back all that is left of a transfer, or `points`. Earned points are taken, spent points come back. A partner
    may take back its own transfers, and others if it may adjust points; a person may where its roles allow it. More
    points of one transfer than the operator sets take a second person, in however many parts.
    """
    call = caller_of(request)
    key = call.key(idempotency_key_of(request))
    order = await read_body(request, _REVERSE.validate_python) or ReverseOrder()
    original = await _original(call, transfer_id)
    now = call.access.clock.now()

    async def card(calculator: Calculator) -> PublishedCard:
        return card_now(calculator.book, original.country, now)

    in_force = await call.rooms[Calculations].by_cards(card)
    return await answer_large(call, reversal_of(order, original, in_force, key=key, agent=call.agent, now=now))


async def target_for(
    call: Call | PersonCall, deed: Deed, member_id: str, order: Any, *, opening: AccountOpening = AccountOpening.NONE
) -> Target:
    """The account of an order, among accounts in which the caller may do this. Raises `Objection` and `ApiProblem`."""
    call.check_somewhere(deed)
    holdings = await call.rooms[MemberReader].holdings(member_id)
    accounts: list[Account] = [each.account for each in holdings if call.is_open(deed, each.account.country)]
    now = call.access.clock.now()

    async def decide(calculator: Calculator) -> Target:
        return target_of(member_id, order, accounts, calculator.book, now, opening=opening)

    target = await call.rooms[Calculations].by_cards(decide)
    call.check(deed, target.country)
    return target


async def moved_answer(call: Call, movement: Movement) -> Response:
    """Does the movement and answers. Raises `ApiProblem`, `KeyReused` and `Unavailable`."""
    return await _answer(call, await call.rooms[MovementBatcher].move(movement))


async def answer_large(call: Call | PersonCall, movement: Adjustment | Reversal) -> Response:
    """The same for a movement that waits for a second person if it is large."""
    outcome = await call.rooms[LargeMoves].do(movement)
    if isinstance(outcome, Approval):
        return answers.json_answer(answers.pending(outcome), 202)
    return await _answer(call, outcome)


async def _answer(call: Call | PersonCall, moved: Moved) -> Response:
    headers = {"Idempotency-Replayed": "true"} if moved.status is Status.DUPLICATE else {}
    return answers.json_answer(answers.moved(await posted(call, moved)), 201, headers)


async def posted(call: Call | PersonCall, moved: Moved) -> Transfer:
    """The transfer of a movement, posted now or before. Raises `ApiProblem` and `Unavailable`."""
    if moved.transfer is not None:
        return moved.transfer
    if moved.fault is not None:
        raise problem_of(moved.fault)
    is_conflict = moved.status is Status.CONFLICT
    if is_conflict and isinstance(moved.movement, Capture | Release):
        raise ApiProblem("hold-not-open")
    first = await call.rooms[LedgerReader].transfer(moved.claim) if moved.claim is not None else None
    if is_conflict:
        raise ApiProblem("idempotency-key-reused", reused_by(moved.movement, first))
    if first is None:
        raise Unavailable("ledger", "the first answer cannot be read")
    return first


def spender(request: Request) -> Call:
    """The partner who may spend. Raises `ApiProblem`."""
    call = call_of(request)
    if not call.partner.may_spend:
        raise ApiProblem("spending-not-allowed")
    return call


async def _hold(call: Call, member_id: str, hold_id: UUID) -> Hold:
    held = await call.rooms[HoldReader].hold(member_id, hold_id, source=call.partner.source)
    if held is None:
        raise ApiProblem("no-such-hold")
    return held


async def _original(call: Call | PersonCall, transfer_id: str) -> Transfer:
    call.check_somewhere(Deed.REVERSE)
    place = parse_transfer_id(transfer_id)
    transfer = await call.rooms[LedgerReader].at(*place) if place is not None else None
    if transfer is None or not call.is_open(Deed.REVERSE, transfer.country):
        raise ApiProblem("not-found", "no such transfer is open to you")
    if isinstance(call, PersonCall):
        return transfer
    if not call.partner.owns(transfer.known_source) and not call.partner.may_adjust:
        raise ApiProblem("adjustments-not-allowed", "another's transfer: this takes a partner that may adjust points")
    return transfer
