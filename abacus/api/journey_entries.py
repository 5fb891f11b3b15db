"""The routes by which callers ask members into journeys, and see where members are."""

from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from abacus.api.answer_schemas import with_example
from abacus.api.answers import json_answer
from abacus.api.api_problem import ApiProblem, FieldFault
from abacus.api.auth import Call, PersonCall, caller_of
from abacus.api.award_entries import check_newcomer
from abacus.api.document_routes import Name
from abacus.api.idempotency import idempotency_key_of
from abacus.api.lean import LeanRoute, read_body
from abacus.api.problems import invalid
from abacus.api.route_description import MemberId, answered, described, key_header
from abacus.core.errors import Absent
from abacus.core.ids import ID_PATTERN
from abacus.engage.journeys.decide.context import ContextFaults
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.entry_desk import Asker, EntryDesk, EntryStatus, KeyReused, NotEntered, Stay
from abacus.people.types.deed import Deed

_EXAMPLE: Final[dict[str, Any]] = {
    "member_id": "bob",
    "context": {"points": 1250, "expires_at": "2027-01-31T00:00:00+08:00"},
}
_ENTRY: Final = {
    "asked_at": "2027-01-28T09:00:00+08:00",
    "status": "entered",
    "why": None,
}
_VISIT: Final = {
    "visit": 1,
    "version": 3,
    "entered_at": "2027-01-28T09:00:00+08:00",
    "node": "last_day",
    "since": "2027-01-28T09:00:00+08:00",
    "left_at": None,
    "why": None,
}

router = APIRouter(prefix="/v1/journeys", tags=["journeys"], route_class=LeanRoute, default_response_class=Response)


class JourneyEntry(BaseModel):
    """A member who is to enter, with the context of the journey: each of its fields, in 50 KiB."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_EXAMPLE]})

    member_id: Annotated[str, Field(pattern=ID_PATTERN)]
    context: dict[str, Any] = Field(default_factory=dict)


class EntryState(BaseModel):
    """An entry that was asked for, and `why` it was refused."""

    asked_at: datetime
    status: EntryStatus
    why: str | None


class EntryAnswer(EntryState):
    """The entry of a member to a journey."""

    model_config = with_example({"journey": "lapsing", "member_id": "bob", **_ENTRY, "status": "waiting"})

    journey: str
    member_id: str


class VisitAnswer(BaseModel):
    """A visit, on the version by which the member entered. While the member is inside, it waits at `node` since a time;
    afterwards there is `why` it left.
    """

    visit: int
    version: int
    entered_at: datetime
    node: str | None
    since: datetime | None
    left_at: datetime | None
    why: str | None


class JourneyMemberAnswer(BaseModel):
    """Where a member is in a journey, and the entries that were asked for."""

    model_config = with_example({"journey": "lapsing", "member_id": "bob", "visits": [_VISIT], "entries": [_ENTRY]})

    journey: str
    member_id: str
    visits: list[VisitAnswer]
    entries: list[EntryState]


@router.post(
    "/{name}/entries",
    status_code=202,
    summary="Let a member enter a journey",
    responses=answered({202: (EntryAnswer, "It is kept, and the member enters soon")}, 404, 409, 415, 422),
    openapi_extra=described(key_header("entry of the member"), body=JourneyEntry),
)
async def enter(name: Name, request: Request) -> Response:
    """For journeys that members enter by the API, while they run; a partner needs the right to fixed points. The member
    enters within a second, once for each key, unless something is against it; `why` says so afterwards.
    """
    call = caller_of(request)
    if isinstance(call, Call) and not call.partner.fixed_points:
        raise ApiProblem("journeys-not-allowed")
    call.check_somewhere(Deed.MOVE_POINTS)
    key = call.key(idempotency_key_of(request))
    entry = await read_body(request, JourneyEntry.model_validate)
    desk = call.rooms[EntryDesk]
    call.check(Deed.MOVE_POINTS, (await _journey(desk, name)).country)
    await check_newcomer(entry.member_id, call.access)
    try:
        asked = await desk.enter(name, entry.member_id, entry.context, key, call.agent)
    except NotEntered as fault:
        raise ApiProblem("journey-state", str(fault)) from None
    except ContextFaults as faults:
        raise invalid(
            [FieldFault(pointer=f"/context{each.path}", detail=each.message) for each in faults.faults]
        ) from None
    except KeyReused as fault:
        raise ApiProblem("idempotency-key-reused", str(fault)) from None
    return json_answer({"journey": name, "member_id": entry.member_id, **asked.told()}, 202)


@router.get(
    "/{name}/members/{member_id:path}",
    summary="Where a member is in a journey",
    responses=answered({200: (JourneyMemberAnswer, "Its visits, and the entries that were asked for")}, 404, 422),
)
async def member(name: Name, member_id: MemberId, request: Request) -> Response:
    """A partner sees what it asked for, and everything where it may read members; a person sees its countries. The
    newest 100 visits and the newest 100 entries are told.
    """
    call = caller_of(request)
    call.check_somewhere(Deed.SEE)
    desk = call.rooms[EntryDesk]
    journey = await _journey(desk, name)
    call.check(Deed.SEE, journey.country)
    found = await desk.where(journey, member_id, None if _sees_all(call) else Asker(call.agent.source, call.key("")))
    return json_answer(
        {
            "journey": name,
            "member_id": member_id,
            "visits": [_visit(each) for each in found.stays],
            "entries": [each.told() for each in found.entries],
        }
    )


async def _journey(desk: EntryDesk, name: str) -> Journey:
    """Raises `ApiProblem`."""
    try:
        return await desk.journey(name)
    except Absent as fault:
        raise ApiProblem("not-found", str(fault)) from None


def _sees_all(call: Call | PersonCall) -> bool:
    return isinstance(call, PersonCall) or call.partner.reads_all


def _visit(stay: Stay) -> dict[str, Any]:
    told = stay._asdict()
    del told["key"]
    return told
