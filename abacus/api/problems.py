"""Errors as RFC 9457 problem documents: a stable type, a title, a detail, and the id of the request."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route

from abacus.core.errors import Unavailable
from abacus.intake.partners.award_intake import KeyReused
from abacus.intake.partners.decide.ask import Objection

IDEMPOTENCY_KEY_HEADER: Final = "Idempotency-Key"
MEDIA_TYPE: Final = "application/problem+json"
_TYPES: Final = "/problems/"

# Every type of problem: its slug, its usual status, and its remedy. Served at /problems.
KINDS: Final[Mapping[str, tuple[int, str, str]]] = {
    "malformed": (400, "The request cannot be read", "Send JSON, with each header as the documentation says."),
    "idempotency-key-missing": (400, "No idempotency key", "Send an Idempotency-Key of 1 to 255 visible characters."),
    "unauthorized": (401, "Not authorized", "Send `Authorization: Bearer …` with a key or token that is valid."),
    "bad-signature": (401, "The signature does not hold", "Sign as docs/partners.md#signed-requests shows."),
    "fixed-points-not-allowed": (403, "The partner may not name points", "Send the transaction instead."),
    "computed-points-not-allowed": (403, "The partner may not send transactions", "Send points instead."),
    "source-not-allowed": (403, "The partner may not name the source", "Ask the operator for the source."),
    "country-not-allowed": (403, "The partner may not award there", "Ask the operator for the country."),
    "award-cap-exceeded": (403, "More points than one award may carry", "Award less, or ask for a higher cap."),
    "member-day-cap-exceeded": (403, "More than a member may get a day", "Wait for tomorrow (UTC)."),
    "budget-exhausted": (403, "The partner's budget is exhausted", "Wait for tomorrow (UTC), or ask for more."),
    "spending-not-allowed": (403, "The partner may not spend points", "Ask the operator."),
    "adjustments-not-allowed": (403, "The partner may not do this", "Ask the operator."),
    "second-person-needed": (403, "Somebody else has to approve it", "Have another person approve it."),
    "person-needed": (403, "Only a person may do this", "Use a personal token, `abp_…`; partners and logins may not."),
    "partner-needed": (403, "Only a partner may do this", "Use a partner's key, `abk_live_…`; people may not."),
    "role-needed": (403, "The person's roles do not allow this", "Ask an admin for the role."),
    "no-such-hold": (404, "No such hold", "Check the id of the hold and the member's."),
    "not-found": (404, "Not found", "Check the id and the path."),
    "method-not-allowed": (405, "The path does not take this method", "See `Allow`."),
    "key-in-flight": (409, "The key is being dealt with", "Ask again after `Retry-After` seconds."),
    "already-awarded": (409, "The transaction was awarded before", "`award_id` names that award where it is yours."),
    "insufficient-points": (409, "Not enough points are available", "See `available` of the member's account."),
    "hold-not-open": (409, "The hold is not open", "It was captured or released, or its time is over."),
    "reversed-already": (409, "It was taken back before", "See the transfers that name it."),
    "approval-decided": (409, "It was decided before", "See its status."),
    "approval-void": (409, "It cannot take effect any more", "See its note, and ask again."),
    "digest-mismatch": (409, "It is not what you looked at", "Read it again, and send the digest that it has now."),
    "unsupported-media-type": (415, "The body is not JSON", "Send it as `Content-Type: application/json`."),
    "too-large": (413, "The body is too large", "Send at most 2 MiB."),
    "too-slow": (408, "The request did not come in time", "Send each request as a whole, without a pause."),
    "head-too-large": (431, "The head of the request is too large", "Send fewer and shorter headers."),
    "idempotency-key-reused": (422, "The key was used for other facts", "Take a new key for each new award."),
    "invalid": (422, "A field is not as it must be", "`errors` names each field by its JSON pointer."),
    "unknown-country": (422, "No rate card for the country", "Check the country."),
    "no-card-in-force": (422, "No rate card was in force then", "Check the time of the transaction."),
    "unknown-vertical": (422, "The card does not price the vertical", "Check the vertical."),
    "unknown-payment-type": (422, "The card does not price the payment type", "Check the payment type."),
    "unknown-currency": (422, "Not the card's currency", "Send amounts in the currency of the card."),
    "unknown-tier": (422, "The member's tier is not on the card", "The operator has to price the tier."),
    "unknown-program": (422, "Not the card's program", "Leave the program out, or name the card's."),
    "out-of-range": (422, "More points than an award can carry", "Check the amount."),
    "in-the-future": (422, "A time that is still to come", "Check the clock."),
    "contradiction": (422, "Two fields contradict each other", "Name the member and the country once."),
    "hold-too-small": (422, "More points than the hold holds", "Capture at most what is held."),
    "not-reversible": (422, "It cannot be taken back", "Earned, spent and adjusted points can be taken back."),
    "too-many-requests": (429, "Too many requests", "Ask again after `Retry-After` seconds."),
    "internal": (500, "Something went wrong here", "Tell the operator the request id."),
    "unavailable": (503, "Something this request needs is down", "Ask again after `Retry-After` seconds."),
}


class FieldFault(BaseModel):
    """One field that is not as it must be."""

    pointer: str
    detail: str


class Problem(BaseModel):
    """The body of every error."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "/problems/budget-exhausted",
                    "title": "The partner's budget is exhausted",
                    "status": 403,
                    "detail": "100 points; 40 of the budget of 5000 a day are left",
                    "request_id": "6f1c0c4e7b0f4c52",
                }
            ]
        }
    )

    type: str
    title: str
    status: int
    detail: str
    request_id: str | None = None
    errors: list[FieldFault] | None = None


class ApiProblem(Exception):  # it is the problem that the answer carries
    """Ends a request with a problem document."""

    def __init__(
        self,
        kind: str,
        detail: str = "",
        *,
        errors: Sequence[FieldFault] = (),
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.status, self.title, remedy = KINDS[kind]
        self.detail = detail or remedy
        self.errors = list(errors)
        self.headers = dict(headers or {})
        self.extra = dict(extra or {})

    def document(self, request_id: str | None = None) -> dict[str, Any]:
        document: dict[str, Any] = {
            "type": _TYPES + self.kind,
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            **({"request_id": request_id} if request_id else {}),
            **self.extra,
        }
        if self.errors:
            document["errors"] = [fault.model_dump() for fault in self.errors]
        return document

    def body(self, request_id: str | None) -> bytes:
        document = self.document(request_id)
        try:
            return orjson.dumps(document)
        except TypeError:  # a detail quotes half a character of the request
            return json.dumps(document).encode()

    def response(self, request_id: str | None) -> Response:
        return Response(self.body(request_id), self.status, media_type=MEDIA_TYPE, headers=self.headers)


def problem_of(error: Objection | Unavailable, within: str = "") -> ApiProblem:
    """The problem for an expected failure; `within` points to its part of the body."""
    if isinstance(error, Objection):
        fault = FieldFault(pointer=within + error.pointer, detail=error.detail)
        return ApiProblem(error.kind, error.detail, errors=[fault])
    return ApiProblem("unavailable", str(error), headers={"Retry-After": "2"}, extra={"dependency": error.dependency})


_OF_EVERY_ROUTE: Final = (400, 401, 403, 408, 413, 429, 431, 503)


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems that a route may answer with, for the OpenAPI document: these and the problems of every route."""
    responses: dict[int | str, dict[str, Any]] = {}
    for status in sorted({*_OF_EVERY_ROUTE, *statuses}):
        examples = {
            kind: {"value": ApiProblem(kind).document("6f1c0c4e7b0f4c52")}
            for kind, (usual, _, _) in KINDS.items()
            if usual == status
        }
        responses[status] = {
            "description": "; ".join(title for usual, title, _ in KINDS.values() if usual == status),
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}, "examples": examples}},
        }
    return responses


router = APIRouter(prefix="/problems", include_in_schema=False)


@router.get("")
async def kinds() -> Mapping[str, Any]:
    """Every type of problem."""
    return {
        _TYPES + kind: {"status": s, "title": title, "remedy": remedy} for kind, (s, title, remedy) in KINDS.items()
    }


@router.get("/{kind}")
async def kind(kind: str) -> Mapping[str, Any]:
    """The meaning of a type of problem, and its remedy."""
    if kind not in KINDS:
        raise ApiProblem("not-found", "there is no problem of this type")
    status, title, remedy = KINDS[kind]
    return {"type": _TYPES + kind, "status": status, "title": title, "remedy": remedy}


_ANSWERED: Final = (
    Exception,
    ApiProblem,
    HTTPException,
    KeyReused,
    Objection,
    RequestValidationError,
    Unavailable,
)


def install(app: FastAPI) -> None:
    """Makes every failure of a request end in a problem document."""

    async def answer(request: Request, error: Exception) -> Response:
        problem = _problem(error)
        if "allow" in map(str.lower, problem.headers):
            problem.headers = {"Allow": ", ".join(_methods_of(request))}
        return _response(request, problem)

    for kind_of_error in _ANSWERED:
        app.add_exception_handler(kind_of_error, answer)


def _problem(error: Exception) -> ApiProblem:
    match error:
        case ApiProblem():
            return error
        case Objection() | Unavailable():
            return problem_of(error)
        case KeyReused():
            return ApiProblem("idempotency-key-reused", error.detail)
        case RequestValidationError():
            return problem_of_request(error.errors())
        case HTTPException():
            kind = {404: "not-found", 405: "method-not-allowed", 413: "too-large"}.get(error.status_code, "malformed")
            return ApiProblem(kind, headers=dict(error.headers or {}))
        case _:
            return ApiProblem("internal")  # the front logs it


_MOST_FAULTS: Final = 20
_LONGEST_NAME: Final = 100
_TAGS: Final = {"fixed", "computed"}  # the kind of award that the body was read as


def problem_of_request(faults: Sequence[Any]) -> ApiProblem:
    """The problem for faults of parameters, as FastAPI reports them: each names the place, then the parameter."""
    errors = [
        FieldFault(pointer=pointer(place, path), detail=_words(fault))
        for fault in faults[:_MOST_FAULTS]
        for place, *path in (fault["loc"],)
    ]
    return invalid(errors)


def problem_of_faults(error: ValidationError, within: str, *, most: int = _MOST_FAULTS) -> ApiProblem:
    """The problem for a part of the body, with the first faults of it; the input, however large, is not repeated."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)[:most]
    return invalid(
        [FieldFault(pointer=pointer(within, _untagged(fault["loc"])), detail=_words(fault)) for fault in faults]
    )


def invalid(errors: Sequence[FieldFault]) -> ApiProblem:
    """The problem for fields that are not as they must be; there is one at least."""
    return ApiProblem("invalid", f"{errors[0].pointer or 'the body'}: {errors[0].detail}", errors=errors)


def pointer(start: str, path: Sequence[Any]) -> str:
    """RFC 6901 within the body; for a header or a parameter, its place and name. A long name is cut."""
    return start + "".join(f"/{shortened(str(part)).replace('~', '~0').replace('/', '~1')}" for part in path)


def shortened(name: str) -> str:
    """A name that the caller made up, of whatever length."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _untagged(path: Sequence[Any]) -> Sequence[Any]:
    return path[1:] if path and path[0] in _TAGS else path


def _words(fault: Any) -> str:
    return str(fault["msg"]).removeprefix("Value error, ")


def _methods_of(request: Request) -> list[str]:
    """The methods of every route with this path: the route that refused the method knows only its own. A later path may
    fit too, because a member's id may end like a path.
    """
    routes = [route for route in request.app.router.routes if isinstance(route, Route)]
    fitting = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for route in fitting if route.path == fitting[0].path for method in route.methods or ()})


def _response(request: Request, problem: ApiProblem) -> Response:
    request_id = request.scope.get("state", {}).get("request_id")
    return problem.response(request_id)
