"""The routes of one award: award, its state, and a quote."""

import re
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Body, Path, Request
from starlette.responses import Response

from abacus.api import answers
from abacus.api.answer_schemas import AwardAnswer, FollowedAwardAnswer, QuoteAnswer
from abacus.api.api_problem import ApiProblem
from abacus.api.auth import Access, call_of
from abacus.api.award_entries import enter, entry_of, quote_of
from abacus.api.hot_paths import Address
from abacus.api.idempotency import idempotency_key_of
from abacus.api.lean import LeanRoute
from abacus.api.route_description import answered, key_header
from abacus.intake.partners.award_intake import Accepted, AwardIntake
from abacus.intake.partners.decide.ask import Ask
from abacus.intake.partners.decide.quote import QuoteAsk
from abacus.intake.partners.register import AwardState, AwardStatus, Register
from abacus.intake.partners.watch import Watch
from abacus.oversight.redeemed.decide.named import Named
from abacus.oversight.redeemed.reader import RedeemedReader

_LONGEST_WAIT_S: Final = 10
_PREFER: Final = "Prefer"
_WAIT: Final = re.compile(r"(?:^|[,;])\s*wait\s*=\s*\"?(\d{1,9})\"?\s*(?:$|[,;])", re.IGNORECASE)

LEAN: Final = (Address("POST", "/v1/awards"), Address("POST", "/v1/quotes"))

router = APIRouter(prefix="/v1", tags=["awards"], route_class=LeanRoute, default_response_class=Response)


# Documented here and read by `idempotency_key_of` and `_seconds_to_wait`.
_HEADERS: Final[list[dict[str, Any]]] = [
    key_header("award"),
    {
        "name": _PREFER,
        "in": "header",
        "description": "`wait=N`: wait up to N (at most 10) seconds for the posting.",
        "schema": {"type": "string"},
    },
]


@router.post(
    "/awards",
    status_code=202,
    summary="Award points",
    responses=answered(
        {
            202: (AwardAnswer, "The queue has the award"),
            201: (FollowedAwardAnswer, "The award is posted (with `Prefer: wait`)"),
        },
        409,
        415,
        422,
    ),
    openapi_extra={"parameters": _HEADERS},
)
async def award(ask: Annotated[Ask, Body()], request: Request) -> Response:
    """Award points that you name, or those of a transaction that Abacus computes.

    The answer comes when the award queue has the award. The same key and the same facts give the first answer again.
    """
    partner, access = call_of(request)
    entry = await entry_of(ask, partner, access, idempotency_key_of(request))
    accepted = await enter(entry, access)
    headers = {"Idempotency-Replayed": "true"} if accepted.replayed else {}
    seconds = _seconds_to_wait(", ".join(request.headers.getlist(_PREFER)))
    if seconds:
        headers["Preference-Applied"] = f"wait={seconds}"
        outcome = await access.rooms[Watch].outcome(entry.award_id, seconds)
        if outcome is not None and outcome.status is AwardStatus.POSTED:
            named = await _named(outcome, access)
            return answers.json_answer(answers.awarded(outcome, partner, named), 201, headers)
        if outcome is not None and outcome.status is AwardStatus.REJECTED:
            raise ApiProblem(outcome.reason or "", outcome.detail or "", extra={"award_id": str(outcome.award_id)})
        if outcome is not None:
            return answers.json_answer(answers.state(outcome), 202, headers)
    return answers.json_answer(answers.queued(entry.award_id, accepted), 202, headers)


@router.get(
    "/awards/{award_id:uuid}",  # so that GET /awards/batch is told that it takes POST only
    summary="What became of an award",
    responses=answered({200: (FollowedAwardAnswer, "The award")}, 404, 422),
)
async def award_state(award_id: Annotated[UUID, Path()], request: Request) -> Response:
    """The award: queued, posted, rejected or quarantined, with the explanation of its points. Once posted, with
    the offer or the reward that was redeemed with the transaction, if it names a redemption.
    """
    partner, access = call_of(request)
    remembered = access.rooms[AwardIntake].remembered(award_id)
    award = (await access.rooms[Register].states([award_id])).get(award_id)
    if award is not None and award.partner_id == partner.partner_id:
        return answers.json_answer(answers.awarded(award, partner, await _named(award, access)))
    if remembered is not None and remembered.partner_id == partner.partner_id:
        accepted = Accepted(remembered.award, replayed=False, provisional=remembered.provisional)
        return answers.json_answer(answers.queued(award_id, accepted))
    raise ApiProblem("not-found", "you asked for no award of this id")


@router.post(
    "/quotes",
    summary="What an award would come to",
    tags=["quotes"],
    responses=answered({200: (QuoteAnswer, "The points")}, 415, 422),
)
async def quote(ask: Annotated[QuoteAsk, Body()], request: Request) -> Response:
    """The points of an award, from the same body; nothing is awarded. The transaction needs no id and may lie in the
    past or the future: it is priced by the card of its time and the member's tier of today.
    """
    call = call_of(request)
    return answers.json_answer(answers.quoted(await quote_of(ask, *call), call.access.clock.now()))


async def _named(award: AwardState, access: Access) -> Named | None:
    """What was redeemed with a transaction, once its points are posted."""
    if award.status is not AwardStatus.POSTED:
        return None
    found = await access.rooms[RedeemedReader].of(award.award.member_id, [award.award])
    return found.get(award.award.key)


def _seconds_to_wait(prefer: str) -> int:
    match = _WAIT.search(prefer)
    return min(int(match[1]), _LONGEST_WAIT_S) if match else 0
