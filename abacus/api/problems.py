"""Every failure of a request as a problem document."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route

from abacus.api.api_problem import KINDS, TYPES, ApiProblem, FieldFault
from abacus.core.errors import SetAside, Unavailable
from abacus.core.fields import DocumentFaults
from abacus.intake.partners.award_intake import KeyReused
from abacus.intake.partners.decide.ask import Objection
from abacus.ledger.types.movement import Declined
from abacus.people.types.approval import CannotDecide, CannotExecute
from abacus.platform.validation import words_of

Expected: TypeAlias = Objection | Unavailable | CannotDecide | CannotExecute | DocumentFaults | Declined | SetAside


def problem_of(error: Expected, within: str = "") -> ApiProblem:
    """The problem for an expected failure; `within` points to its part of the body."""
    if isinstance(error, CannotExecute) and isinstance(error.cause, CannotDecide | Declined | SetAside):
        error = error.cause
    match error:
        case Objection():
            fault = FieldFault(pointer=within + error.pointer, detail=error.detail)
            return ApiProblem(error.kind, error.detail, errors=[fault])
        case Unavailable():
            away = {"dependency": error.dependency}
            return ApiProblem("unavailable", str(error), headers={"Retry-After": "2"}, extra=away)
        case CannotDecide():
            return ApiProblem(error.kind, error.detail)
        case CannotExecute():
            return ApiProblem("approval-void", error.detail)
        case DocumentFaults():
            faults = [FieldFault(pointer=f"/{fault.path}", detail=fault.message) for fault in error.faults]
            return ApiProblem("invalid", faults[0].detail, errors=faults)
        case _:
            return ApiProblem(str(error.reason), error.detail)


router = APIRouter(prefix="/problems", include_in_schema=False)


@router.get("")
async def kinds() -> Mapping[str, Any]:
    """Every type of problem."""
    return {TYPES + kind: {"status": s, "title": title, "remedy": remedy} for kind, (s, title, remedy) in KINDS.items()}


@router.get("/{kind}")
async def kind(kind: str) -> Mapping[str, Any]:
    """The meaning of a type of problem, and its remedy."""
    if kind not in KINDS:
        raise ApiProblem("not-found", "there is no problem of this type")
    status, title, remedy = KINDS[kind]
    return {"type": TYPES + kind, "status": status, "title": title, "remedy": remedy}


# What a request may fail by, beside what nobody expects.
ANSWERED: Final = (
    ApiProblem,
    CannotDecide,
    CannotExecute,
    DocumentFaults,
    HTTPException,
    KeyReused,
    Objection,
    RequestValidationError,
    Unavailable,
)


def install(app: FastAPI) -> None:
    """Makes every failure of a request end in a problem document."""

    async def answer(request: Request, error: Exception) -> Response:
        problem = problem_for(error)
        if "allow" in map(str.lower, problem.headers):
            problem.headers = {"Allow": ", ".join(_methods_of(request))}
        return problem.response(request.scope.get("state", {}).get("request_id"))

    for kind_of_error in (Exception, *ANSWERED):
        app.add_exception_handler(kind_of_error, answer)


def problem_for(error: Exception) -> ApiProblem:
    """The problem that a failed request ends in."""
    match error:
        case ApiProblem():
            return error
        case Objection() | Unavailable() | CannotDecide() | CannotExecute() | DocumentFaults():
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


MOST_IN_BATCH: Final = 1000
_MOST_FAULTS: Final = 20
_MOST_FAULTS_OF_ITEM: Final = 5
_LONGEST_NAME: Final = 100
_TAGS: Final = {"fixed", "computed"}  # the kind of award that the body was read as


def problem_of_request(faults: Sequence[Any]) -> ApiProblem:
    """The problem for faults of parameters, as FastAPI reports them: each names the place, then the parameter."""
    errors = [
        FieldFault(pointer=pointer(place, path), detail=words_of(fault))
        for fault in faults[:_MOST_FAULTS]
        for place, *path in (fault["loc"],)
    ]
    return invalid(errors)


def problem_of_faults(error: ValidationError, within: str, *, most: int = _MOST_FAULTS) -> ApiProblem:
    """The problem for a part of the body, with the first faults of it; the input, however large, is not repeated."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)[:most]
    return invalid(
        [FieldFault(pointer=pointer(within, _untagged(fault["loc"])), detail=words_of(fault)) for fault in faults]
    )


def problem_of_item(error: ValidationError, within: str) -> ApiProblem:
    """The problem for an item of a batch, with fewer faults: a batch may have a thousand of them."""
    return problem_of_faults(error, within, most=_MOST_FAULTS_OF_ITEM)


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


def _methods_of(request: Request) -> list[str]:
    """The methods of every route with this path: the route that refused the method knows only its own. A later path may
    fit too, because a member's id may end like a path.
    """
    routes = [route for route in request.app.router.routes if isinstance(route, Route)]
    fitting = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for route in fitting if route.path == fitting[0].path for method in route.methods or ()})
