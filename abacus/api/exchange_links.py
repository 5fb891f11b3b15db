"""The routes by which members link their accounts at partners: asked for, verified, seen and ended."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Self
from uuid import UUID

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.responses import Response

from abacus.api.answer_schemas import with_example
from abacus.api.answers import json_answer
from abacus.api.api_problem import ApiProblem
from abacus.api.auth import Call, PersonCall, caller_of
from abacus.api.lean import LeanRoute, read_body
from abacus.api.route_description import MemberId, answered, described
from abacus.documents.decide.heading import NAME_PATTERN
from abacus.exchanges.decide.link import (
    CODE_PATTERN,
    NUMBER_PATTERN,
    Link,
    LinkFault,
    LinkRefused,
    LinkState,
    LinkWay,
)
from abacus.exchanges.decide.sign_in import Returned
from abacus.exchanges.link_desk import LinkDesk, Wanted, WantedSignIn
from abacus.exchanges.types import Account
from abacus.people.types.deed import Deed

router = APIRouter(prefix="/v1", tags=["exchange-links"], route_class=LeanRoute, default_response_class=Response)

LinkId = Annotated[UUID, Path()]
_LONGEST_NAME: Final = 200
_LONGEST_ADDRESS: Final = 2000
_VISIBLE: Final = "^[ -~]+$"  # what RFC 6749 lets codes and states have
_LONGEST_CODE: Final = 4000  # of the partner: RFC 6749 leaves its length open
_EXAMPLE: Final[dict[str, Any]] = {
    "link_id": "5b1f6c4e-1b7a-4f0e-9a55-2f5a6c0c7a11",
    "programme": "skymiles",
    "member_id": "bob",
    "number": "…5678",
    "status": "cooling",
    "way": "partner",
    "reason": None,
    "asked_at": "2026-11-27T09:00:00Z",
    "code_until": None,
    "verified_at": "2026-11-27T09:01:00Z",
    "usable_from": "2026-11-28T09:01:00Z",
    "ended_at": None,
    "authorize_url": None,
}

# The problem of each fault.
_PROBLEMS: Final[Mapping[LinkFault, str]] = {
    LinkFault.NO_PROGRAMME: "programme-closed",
    LinkFault.NO_LINK: "no-link",
    LinkFault.NOT_VERIFIED: "link-not-verified",
    LinkFault.COOLING_OFF: "link-cooling-off",
    LinkFault.LINKED_ALREADY: "linked-already",
    LinkFault.NUMBER_LINKED: "number-linked",
    LinkFault.WRONG_CODE: "wrong-code",
    LinkFault.CODE_OVER: "code-over",
    LinkFault.NOT_ASKABLE: "partner-not-askable",
    LinkFault.NO_SIGN_IN: "sign-in-not-offered",
    LinkFault.NO_REDIRECT: "redirect-not-allowed",
    LinkFault.WRONG_SIGN_IN: "wrong-sign-in",
    LinkFault.SIGN_IN_OVER: "sign-in-over",
    LinkFault.TOO_MANY_ATTEMPTS: "too-many-attempts",
}


class SignInAsk(BaseModel):
    """The member signs in at the partner, and comes back to `redirect_uri`. The programme names that address."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    redirect_uri: Annotated[str, Field(min_length=1, max_length=_LONGEST_ADDRESS)]


class LinkAsk(BaseModel):
    """The member's account at the partner: its number, and the holder's name where the partner compares it. With
    `send_code` the member is told a code of six digits, which verifies the link within ten minutes. With `oauth` in
    place of the number the member signs in at the partner, at the `authorize_url` of the answer.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"programme": "skymiles", "number": "SKY 1234 5678", "name": "Bob Tan"},
                {"programme": "skymiles", "oauth": {"redirect_uri": "https://app.example/linked"}},
            ]
        },
    )

    programme: Annotated[str, Field(pattern=f"^{NAME_PATTERN}$")]
    number: Annotated[str | None, Field(pattern=NUMBER_PATTERN)] = None
    name: Annotated[str | None, Field(min_length=1, max_length=_LONGEST_NAME)] = None
    send_code: bool = False
    oauth: SignInAsk | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.number is None) is (self.oauth is None):
            raise ValueError("send either number or oauth")
        if self.oauth is not None and (self.name is not None or self.send_code):
            raise ValueError("name and send_code stand beside a number, not beside oauth")
        return self

    def wanted(self) -> Wanted | WantedSignIn:
        if self.oauth is not None:
            return WantedSignIn(self.programme, self.oauth.redirect_uri)
        return Wanted(self.programme, Account((self.number or "").strip(), self.name), sends_code=self.send_code)


class SignInReturn(BaseModel):
    """What came to the redirect address: `code` and `state`, and `iss` where the partner sends it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: Annotated[str, Field(pattern=_VISIBLE, max_length=_LONGEST_CODE)]
    state: Annotated[str, Field(pattern=_VISIBLE, max_length=_LONGEST_NAME)]
    iss: Annotated[str | None, Field(pattern=_VISIBLE, max_length=_LONGEST_ADDRESS)] = None


class LinkVerification(BaseModel):
    """The code that the member was told, or what came back from its sign-in. Without both the partner is asked."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={
            "examples": [{"code": "012345"}, {}, {"oauth": {"code": "SplxlOBeZQ", "state": "af0ifjsldkj"}}]
        },
    )

    code: Annotated[str | None, Field(pattern=CODE_PATTERN)] = None
    oauth: SignInReturn | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.code is not None and self.oauth is not None:
            raise ValueError("send either code or oauth")
        return self


class LinkAnswer(BaseModel):
    """A link. `number` is the end of the account's number, and `…` until a sign-in has told it. While it is `cooling`
    it may not be used; a `refused` one says why: `name-near`, `account-unknown`, `account-closed` or
    `sign-in-refused`. `way` says what verified it: the `code` that the member was told, the word of the `partner`, or
    the member's sign-in there, `oauth`. `code_until` is until when a code is taken, of either kind. `authorize_url` is
    in the answer alone that begins a sign-in.
    """

    model_config = with_example(_EXAMPLE)

    link_id: UUID
    programme: str
    member_id: str
    number: str
    status: LinkState
    way: LinkWay | None
    reason: str | None
    asked_at: datetime
    code_until: datetime | None
    verified_at: datetime | None
    usable_from: datetime | None
    ended_at: datetime | None
    authorize_url: str | None


class LinksAnswer(BaseModel):
    """The links of a member, the newest first; ended links, too."""

    model_config = with_example({"member_id": "bob", "links": [_EXAMPLE]})

    member_id: str
    links: list[LinkAnswer]


@router.post(
    "/members/{member_id:path}/links",
    status_code=201,
    summary="Link a member's account at a partner",
    responses=answered({201: (LinkAnswer, "It waits to be verified")}, 404, 409, 415, 422),
    openapi_extra=described(body=LinkAsk),
)
async def link(member_id: MemberId, request: Request) -> Response:
    """A member has one account at a programme, and an account belongs to one member. What is asked for again takes the
    place of what was not verified; what is verified already is answered as it is. A sign-in is open for ten minutes,
    and its address is told this once.
    """
    call = _linker(request)
    wanted = (await read_body(request, LinkAsk.model_validate)).wanted()
    desk, authorize_url = _desk(call), None
    try:
        call.check(Deed.MOVE_POINTS, desk.programme(wanted.programme).country)
        if isinstance(wanted, WantedSignIn):
            found, authorize_url = await desk.begin(member_id, wanted, call.agent)
        else:
            found = await desk.ask(member_id, wanted, call.agent)
    except LinkRefused as fault:
        raise problem_of_link(fault) from None
    return json_answer(_document(call, found, authorize_url), 201)


@router.get(
    "/members/{member_id:path}/links",
    summary="A member's links to partners",
    responses=answered({200: (LinksAnswer, "The newest first")}, 404, 422),
)
async def links(member_id: MemberId, request: Request) -> Response:
    """A partner sees the links that it asked for, and all of them where it may read members; a person sees its
    countries.
    """
    call = caller_of(request)
    call.check_somewhere(Deed.SEE)
    desk = _desk(call)
    found = await desk.of_member(member_id)
    countries = await desk.countries(found)
    shown = [each for each in found if _is_seen(call, each, countries.get(each.programme))]
    return json_answer({"member_id": member_id, "links": [_document(call, each) for each in shown]})


@router.post(
    "/members/{member_id:path}/links/{link_id}/verify",
    summary="Verify a link",
    responses=answered({200: (LinkAnswer, "It is verified, or the partner refuses it")}, 404, 409, 415, 422),
    openapi_extra=described(body=LinkVerification),
)
async def verify(member_id: MemberId, link_id: LinkId, request: Request) -> Response:
    """By the code that the member was told, or by the partner, who is asked whether the account is there, is open and
    has this name; or by what came back from the member's sign-in, for which the partner says whose account it is. What
    is verified is answered as it is. A sign-in is taken once: if the partner does not answer then, begin again.
    """
    call = _linker(request)
    body = await read_body(request, LinkVerification.model_validate)
    desk, asked = _desk(call), await _changed(call, member_id, link_id)
    try:
        if body.oauth is not None:
            returned = Returned(body.oauth.code, body.oauth.state, body.oauth.iss)
            found = await desk.finish(asked, returned, call.agent)
        else:
            found = await desk.verify(asked, body.code, call.agent)
    except LinkRefused as fault:
        raise problem_of_link(fault) from None
    return json_answer(_document(call, found))


@router.delete(
    "/members/{member_id:path}/links/{link_id}",
    summary="End a link",
    responses=answered({200: (LinkAnswer, "It has ended")}, 404, 422),
)
async def unlink(member_id: MemberId, link_id: LinkId, request: Request) -> Response:
    """Exchanges that are open go on. The account may be linked again, by whomever it belongs to."""
    call = _linker(request)
    found = await _desk(call).unlink(await _changed(call, member_id, link_id), call.agent)
    return json_answer(_document(call, found))


def problem_of_link(fault: LinkRefused) -> ApiProblem:
    headers = None if fault.retry_after_s is None else {"Retry-After": str(fault.retry_after_s)}
    return ApiProblem(_PROBLEMS[fault.fault], str(fault), headers=headers)


def _desk(call: Call | PersonCall) -> LinkDesk:
    """Raises `ApiProblem`."""
    desk = call.rooms.find(LinkDesk)
    if desk is None:
        raise ApiProblem("not-found", "no accounts are linked here")
    return desk


def _linker(request: Request) -> Call | PersonCall:
    """Raises `ApiProblem`."""
    call = caller_of(request)
    if isinstance(call, Call) and not call.partner.may_spend:
        raise ApiProblem("spending-not-allowed")
    call.check_somewhere(Deed.MOVE_POINTS)
    return call


async def _changed(call: Call | PersonCall, member_id: str, link_id: UUID) -> Link:
    """A link that the caller may verify and end. Raises `ApiProblem`."""
    desk = _desk(call)
    found = await desk.one(member_id, link_id)
    country = None if found is None else (await desk.countries([found])).get(found.programme)
    if found is None or country is None or not call.is_open(Deed.MOVE_POINTS, country):
        raise ApiProblem("not-found", "no such link is open to you")
    if isinstance(call, Call) and not call.partner.owns(found.asked_by) and not call.partner.may_adjust:
        detail = "another asked for this link: this takes a partner that may adjust points"
        raise ApiProblem("adjustments-not-allowed", detail)
    return found


def _is_seen(call: Call | PersonCall, each: Link, country: str | None) -> bool:
    if country is None or not call.is_open(Deed.SEE, country):
        return False
    return isinstance(call, PersonCall) or call.partner.reads_all or call.partner.owns(each.asked_by)


def _document(call: Call | PersonCall, each: Link, authorize_url: str | None = None) -> dict[str, Any]:
    return {
        "link_id": str(each.link_id),
        "programme": each.programme,
        "member_id": each.member_id,
        "number": each.shown,
        "status": each.state_at(call.access.clock.now()),
        "way": each.way,
        "reason": each.reason,
        "asked_at": each.asked_at,
        "code_until": each.code_until,
        "verified_at": each.verified_at,
        "usable_from": each.usable_from,
        "ended_at": each.ended_at,
        "authorize_url": authorize_url,
    }
