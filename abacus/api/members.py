"""The routes of members: their accounts, transfers and lots."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from abacus.api import answers
from abacus.api.answer_schemas import LotsAnswer, MemberAnswer, TransfersAnswer
from abacus.api.api_problem import ApiProblem, FieldFault
from abacus.api.auth import Access, call_of
from abacus.api.hot_paths import Address
from abacus.api.lean import LeanRoute
from abacus.api.route_description import MemberId, answered
from abacus.core.ids import PROGRAM_PATTERN
from abacus.intake.partners.decide.partner import Partner
from abacus.intake.partners.members import MemberAccount, MemberReader
from abacus.ledger.store.read import LedgerReader, RemainingLot
from abacus.ledger.types.positions import FROM_THE_NEWEST, read_positions, text_of
from abacus.oversight.redeemed.reader import RedeemedReader
from abacus.platform.validation import Moment

_PAGE: Final = 50
_MOST_ON_PAGE: Final = 100

LEAN: Final = (Address("GET", "/v1/members/{member_id:path}"),)

router = APIRouter(prefix="/v1/members", tags=["members"], route_class=LeanRoute, default_response_class=Response)


class PageQuery(BaseModel):
    """The query parameters for a page of a member's transfers or lots."""

    model_config = ConfigDict(extra="forbid")

    program: Annotated[str | None, Field(description="Only this program's.", pattern=PROGRAM_PATTERN)] = None
    cursor: Annotated[str | None, Field(description="The `next` of the page before.", max_length=4000)] = None
    limit: Annotated[int, Field(ge=1, le=_MOST_ON_PAGE)] = _PAGE


@router.get(
    "/{member_id:path}/transfers",  # an id may hold a slash; so this route comes before the next
    summary="What changed a member's points",
    responses=answered({200: (TransfersAnswer, "A page")}, 404, 422),
)
async def transfers(member_id: MemberId, request: Request, query: Annotated[PageQuery, Query()]) -> Response:
    """The transfers, the newest first. Follow `next` for the page after. Of others' transfers `key`, `actor` and
    `explanation` are null, unless the operator lets you see them.
    """
    partner, access = call_of(request)
    holdings = await _holdings(member_id, partner, access)
    programs = [held.account.program for held in holdings if query.program in {None, held.account.program}]
    before = _positions(query.cursor)
    below = {program: before.get(program, FROM_THE_NEWEST) for program in programs}
    listed = await access.rooms[LedgerReader].history(member_id, below, query.limit + 1)
    page = listed[: query.limit]
    following = text_of(below | {each.program: each.seq for each in page}) if len(listed) > query.limit else None
    seen = [each for each in page if partner.may_see(each.known_source)]
    redeemed = await access.rooms[RedeemedReader].of(member_id, seen)
    shown = [answers.listed_transfer(each, partner, redeemed.get(each.key)) for each in page]
    return answers.json_answer({"transfers": shown, "next": following})


class AsOfQuery(BaseModel):
    """The query parameter for a past time."""

    model_config = ConfigDict(extra="forbid")

    as_of: Annotated[Moment | None, Field(description="A time that is past; now if left out.")] = None


@router.get(
    "/{member_id:path}/lots",
    summary="What remains of a member's points, award by award",
    responses=answered({200: (LotsAnswer, "A page")}, 404, 422),
)
async def lots(member_id: MemberId, request: Request, query: Annotated[PageQuery, Query()]) -> Response:
    """Each transfer that added points and is not used up, the oldest first: in that order points are spent. Follow
    `next` for the page after. Of others' awards `key` is null, unless the operator lets you see it.
    """
    partner, access = call_of(request)
    holdings = await _holdings(member_id, partner, access)
    programs = sorted(held.account.program for held in holdings if query.program in {None, held.account.program})
    after = _positions(query.cursor)
    remaining: list[RemainingLot] = []
    for program in programs:
        if len(remaining) <= query.limit:
            room = query.limit + 1 - len(remaining)
            remaining += await access.rooms[LedgerReader].lots(member_id, program, after.get(program, 0), room)
    page = remaining[: query.limit]
    reached = after | {each.program: each.seq for each in page}
    following = text_of(reached) if len(remaining) > query.limit else None
    shown = [answers.lot(member_id, each, partner) for each in page]
    return answers.json_answer({"member_id": member_id, "lots": shown, "next": following})


@router.get(
    "/{member_id:path}",
    summary="A member's points",
    responses=answered({200: (MemberAnswer, "The member")}, 404, 422),
)
async def member(member_id: MemberId, request: Request, query: Annotated[AsOfQuery, Query()]) -> Response:
    """The accounts of a member in the countries where you may award: as they are, or as they were at a time. An account
    that had no transfer by then is left out.
    """
    partner, access = call_of(request)
    accounts = [holding.at(access.clock.now()) for holding in await _holdings(member_id, partner, access)]
    if query.as_of is None:
        return answers.json_answer(answers.member(member_id, accounts))
    if query.as_of > access.clock.now():
        detail = "the future is not known"
        raise ApiProblem("in-the-future", detail, errors=[FieldFault(pointer="query/as_of", detail=detail)])
    then = [
        each
        for each in await access.rooms[MemberReader].as_of(member_id, query.as_of)
        if partner.may_award_in(each.country)
    ]
    return answers.json_answer(answers.member(member_id, then) | {"as_of": query.as_of})


async def _holdings(member_id: str, partner: Partner, access: Access) -> list[MemberAccount]:
    """The member's accounts in the partner's countries. Without the right to read others, a partner sees the members
    whose points it has moved. Raises `ApiProblem`.
    """
    every = await access.rooms[MemberReader].holdings(member_id)
    holdings = [holding for holding in every if partner.may_award_in(holding.account.country)]
    if not holdings or not (partner.reads_all or await access.rooms[MemberReader].knows(member_id, partner.source)):
        raise ApiProblem("not-found", "no account of this member is open to you")
    return holdings


def _positions(cursor: str | None) -> dict[str, int]:
    """Raises `ApiProblem`."""
    try:
        return read_positions(cursor)
    except ValueError:
        detail = "not a cursor that this API gave"
        raise ApiProblem("invalid", detail, errors=[FieldFault(pointer="query/cursor", detail=detail)]) from None
