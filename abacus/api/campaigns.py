"""The routes by which people see campaigns, submit them, and pause, resume and end them."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, TypeAdapter
from starlette.responses import Response

from abacus.api import answers
from abacus.api.answer_examples import CAMPAIGN_DOCUMENT
from abacus.api.answer_schemas import CampaignAnswer, CampaignsAnswer, CampaignVersionsAnswer, SubmittedCampaignAnswer
from abacus.api.api_problem import ApiProblem, FieldFault
from abacus.api.auth import PersonCall, person_of
from abacus.api.lean import read_body
from abacus.api.problems import documented
from abacus.api.route_description import described
from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults
from abacus.documents.decide.states import Act, State
from abacus.engage.campaigns.campaign_store import CampaignRecord
from abacus.engage.campaigns.decide.campaign import NAME_PATTERN, Campaign
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.engage.campaigns.report_document import report_document
from abacus.intake.partners.decide.ask import ReasonText
from abacus.people.decide.rights import countries_of
from abacus.people.types.approval import Approval, CannotDecide
from abacus.people.types.deed import Deed

router = APIRouter(prefix="/v1", tags=["campaigns"])

_MOST_ON_PAGE: Final = 100
_PAGE: Final = 50


class CampaignDocument(BaseModel):
    """A campaign, as docs/country-teams/campaigns.md says."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"examples": [CAMPAIGN_DOCUMENT]})


class Moving(BaseModel):
    """The reason, for the log."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"reason": "Too many at once"}]})

    reason: ReasonText


_DOCUMENT: Final[TypeAdapter[dict[str, Any]]] = TypeAdapter(dict[str, Any])
_MOVING: Final[TypeAdapter[Moving]] = TypeAdapter(Moving)

Name = Annotated[str, Path(pattern=f"^{NAME_PATTERN}$")]


@router.get(
    "/campaigns",
    summary="The campaigns",
    response_class=Response,
    responses={200: {"model": CampaignsAnswer, "description": "A page, by name"}, **documented(403, 422)},
)
async def campaigns(
    request: Request,
    state: Annotated[State | None, Query()] = None,
    country: Annotated[str | None, Query(pattern="^[A-Z]{2}$")] = None,
    after: Annotated[str | None, Query(description="The last name of the page before.", max_length=64)] = None,
    limit: Annotated[int, Query(ge=1, le=_MOST_ON_PAGE)] = _PAGE,
) -> Response:
    """The latest version of each campaign of the countries that your roles open, by name."""
    call = person_of(request)
    desk, countries = _desk(call), countries_of(call.actor, Deed.SEE)
    if country is not None:
        countries = (country,) if countries is None or country in countries else ()
    found = await desk.page(countries=countries, state=state, after=after, limit=limit + 1)
    page = found[:limit]
    following = page[-1].document.name if len(found) > limit else None
    shown = [answers.campaign(record, desk.now()) for record in page]
    return answers.json_answer({"campaigns": shown, "next": following})


@router.post(
    "/campaigns",
    status_code=202,
    summary="Submit a campaign",
    response_class=Response,
    responses={
        202: {"model": SubmittedCampaignAnswer, "description": "It waits for a second person"},
        **documented(400, 403, 409, 415, 422),
    },
    openapi_extra=described(body=CampaignDocument),
)
async def publish(request: Request) -> Response:
    """Draft a version of a campaign and submit it. Another person approves it by `POST /v1/approvals/…/approve`."""
    call, document = person_of(request), await read_body(request, _DOCUMENT)
    _check_drafts(call, document)
    country = document.get("country")
    if isinstance(country, str):
        call.check(Deed.EDIT_CAMPAIGNS, country)
    return await _submitted(call, await _read(call, document), is_new=True)


@router.post(
    "/campaigns/lint",
    summary="Check a campaign",
    response_class=Response,
    responses={200: {"description": "It has no faults"}, **documented(400, 403, 415, 422)},
    openapi_extra=described(body=CampaignDocument),
)
async def lint(request: Request) -> Response:
    """Check a document by what is published. Nothing is kept. The problem names every fault by its pointer. It takes a
    role that may edit campaigns, in whichever country.
    """
    call, document = person_of(request), await read_body(request, _DOCUMENT)
    _check_drafts(call, document)
    draft = await _read(call, document)
    return answers.json_answer({"name": draft.name, "country": draft.country, "faults": []})


@router.get(
    "/campaigns/{name}",
    summary="A campaign",
    response_class=Response,
    responses={200: {"model": CampaignAnswer, "description": "Its latest version"}, **documented(403, 404, 422)},
)
async def campaign(name: Name, request: Request) -> Response:
    """The latest version of a campaign, with its state."""
    call = person_of(request)
    return answers.json_answer(answers.campaign((await _history(call, name))[-1], _desk(call).now()))


@router.get(
    "/campaigns/{name}/versions",
    summary="The versions of a campaign",
    response_class=Response,
    responses={
        200: {"model": CampaignVersionsAnswer, "description": "All versions, the first first"},
        **documented(403, 404, 422),
    },
)
async def versions(name: Name, request: Request) -> Response:
    """Every version of a campaign, with its state, and who drafted, changed and approved it."""
    call = person_of(request)
    now = _desk(call).now()
    return answers.json_answer({"versions": [answers.campaign(each, now) for each in await _history(call, name)]})


@router.get(
    "/campaigns/{name}/report",
    summary="What a campaign has done",
    response_class=Response,
    responses={200: {"description": "By day, arm and outcome, and its limits"}, **documented(403, 404, 422)},
)
async def report(name: Name, request: Request) -> Response:
    """What came of the events that the campaign answered to, what is done and waits, and what is used of its limits."""
    call = person_of(request)
    desk, record = _desk(call), (await _history(call, name))[-1]
    return answers.json_answer(report_document(record, await desk.report(record.document), desk.now()))


@router.post(
    "/campaigns/{name}/submit",
    status_code=202,
    summary="Submit the latest version once more",
    response_class=Response,
    responses={
        202: {"model": SubmittedCampaignAnswer, "description": "It waits for a second person"},
        **documented(400, 403, 404, 409, 415, 422),
    },
)
async def submit(name: Name, request: Request) -> Response:
    """Submit a version that was withdrawn or rejected."""
    call = person_of(request)
    record = (await _history(call, name))[-1]
    call.check(Deed.EDIT_CAMPAIGNS, record.document.country)
    return await _submitted(call, record.document, is_new=False)


_MOVED: Final[dict[int | str, dict[str, Any]]] = {
    200: {"model": CampaignAnswer, "description": "It is done"},
    **documented(400, 403, 404, 409, 415, 422),
}


@router.post(
    "/campaigns/{name}/pause",
    summary="Pause a campaign",
    response_class=Response,
    responses=_MOVED,
    openapi_extra=described(body=Moving),
)
async def pause(name: Name, request: Request) -> Response:
    """It does nothing any more within a second. What happens meanwhile is not made up for."""
    return await _moved(name, Act.PAUSE, request)


@router.post(
    "/campaigns/{name}/resume",
    summary="Resume a campaign",
    response_class=Response,
    responses=_MOVED,
    openapi_extra=described(body=Moving),
)
async def resume(name: Name, request: Request) -> Response:
    """A paused campaign runs again."""
    return await _moved(name, Act.RESUME, request)


@router.post(
    "/campaigns/{name}/end",
    summary="End a campaign",
    response_class=Response,
    responses=_MOVED,
    openapi_extra=described(body=Moving),
)
async def end(name: Name, request: Request) -> Response:
    """It is over for good. What was decided before is still done."""
    return await _moved(name, Act.END, request)


@router.post(
    "/campaigns/{name}/withdraw",
    summary="Withdraw a submitted version",
    response_class=Response,
    responses=_MOVED,
    openapi_extra=described(body=Moving),
)
async def withdraw(name: Name, request: Request) -> Response:
    """The version is a draft again, and cannot be approved."""
    return await _moved(name, Act.WITHDRAW, request)


async def _moved(name: str, act: Act, request: Request) -> Response:
    call = person_of(request)
    body = await read_body(request, _MOVING)
    record = (await _history(call, name))[-1]
    call.check(Deed.EDIT_CAMPAIGNS, record.document.country)
    try:
        moved = await _desk(call).move(record.document, act, body.reason, call.actor)
    except Refused as fault:
        raise ApiProblem("campaign-state", str(fault)) from None
    return answers.json_answer(answers.campaign(moved, _desk(call).now()))


def _desk(call: PersonCall) -> CampaignDesk:
    desk = call.rooms.find(CampaignDesk)
    if desk is None:
        raise ApiProblem("not-found", "no campaign runs in a sandbox")
    return desk


def _check_drafts(call: PersonCall, document: Mapping[str, object]) -> None:
    """Raises `ApiProblem` for a person who may edit no campaign, before anything of the document is looked at."""
    if countries_of(call.actor, Deed.EDIT_CAMPAIGNS) == ():
        country = document.get("country")
        call.check(Deed.EDIT_CAMPAIGNS, country if isinstance(country, str) else None)


async def _read(call: PersonCall, document: Mapping[str, object]) -> Campaign:
    try:
        return await _desk(call).read(document)
    except DocumentFaults as error:
        raise _faults(error) from None


async def _history(call: PersonCall, name: str) -> Sequence[CampaignRecord]:
    """Raises `ApiProblem` where there is no such campaign, or it is not open to the person."""
    history = await _desk(call).history(name)
    if not history or not call.is_open(Deed.SEE, history[-1].document.country):
        raise ApiProblem("not-found", "no such campaign is open to you")
    return history


async def _submitted(call: PersonCall, campaign: Campaign, *, is_new: bool) -> Response:
    desk = _desk(call)
    try:
        record, approval = await (desk.propose if is_new else desk.submit)(campaign, call.actor)
    except DocumentFaults as error:
        raise _faults(error) from None
    except CannotDecide as error:
        raise ApiProblem(error.kind, error.detail) from None
    except Refused as fault:
        raise ApiProblem("campaign-state", str(fault)) from None
    return answers.json_answer(_submission(record, approval, desk), 202)


def _submission(record: CampaignRecord, approval: Approval, desk: CampaignDesk) -> dict[str, Any]:
    return {"campaign": answers.campaign(record, desk.now()), "approval": answers.approval(approval)}


def _faults(error: DocumentFaults) -> ApiProblem:
    errors = [FieldFault(pointer=f"/{fault.path}", detail=fault.message) for fault in error.faults]
    return ApiProblem("invalid", errors[0].detail, errors=errors)
