"""Why a try failed: the API's own word, or what its absence says. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Final
from uuid import UUID

import httpx
from pydantic import AfterValidator, TypeAdapter, ValidationError

KEY_IN_FLIGHT: Final = "key-in-flight"
NO_ANSWER: Final = "no-answer"  # the request may or may not have arrived
NOT_SENT: Final = "not-sent"  # nor can it ever be
UNREADABLE: Final = "unreadable"  # a success, but not one of this API
UNTYPED: Final = "about:blank"  # by RFC 9457: it is no more than its status says

_MEDIA_TYPE: Final = "application/problem+json"
_PASSING: Final = frozenset({429, 502, 503, 504})
_SECONDS: Final = re.compile(r"[0-9]{1,9}")  # never a date: what sends one is not this API


def _slug(type_: str) -> str:
    return type_.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class FieldFault:
    """One field that is not as it must be; `pointer` names it by RFC 6901."""

    pointer: str
    detail: str


@dataclass(frozen=True, slots=True)
class Problem:
    """`type` is the last part of the API's, stable and made for programs. `status` is missing where no answer came."""

    type: Annotated[str, AfterValidator(_slug)]
    title: str
    status: int | None = None
    detail: str = ""
    request_id: str | None = None
    errors: tuple[FieldFault, ...] = ()
    award_id: UUID | None = None  # of an award that was rejected while it was waited for
    retry_after: int | None = None  # in seconds

    @property
    def passing(self) -> bool:
        """The same request may succeed later."""
        return self.status in _PASSING or self.type in {KEY_IN_FLIGHT, NO_ANSWER}


_PROBLEM: Final = TypeAdapter(Problem)


def problem_of(got: httpx.Response | httpx.RequestError) -> Problem:
    """Of a try that did not succeed."""
    if isinstance(got, httpx.RequestError):
        sendable = not isinstance(got, httpx.LocalProtocolError | httpx.UnsupportedProtocol)
        words = str(got) or type(got).__name__
        return (
            Problem(NO_ANSWER, "No answer", detail=words) if sendable else Problem(NOT_SENT, "Not sent", detail=words)
        )
    return replace(
        _told(got) or Problem(UNTYPED, got.reason_phrase or "An error that is not the API's"),
        status=got.status_code,
        retry_after=_seconds(got.headers),
    )


def unreadable(got: httpx.Response, why: ValueError) -> Problem:
    """Of a try that succeeded, so it says, with an answer that makes no sense."""
    request_id = got.headers.get("X-Request-Id")
    return Problem(UNREADABLE, "The answer cannot be read", got.status_code, str(why), request_id)


def _told(got: httpx.Response) -> Problem | None:
    """What the API says; nothing, if something that stands before it has answered."""
    if got.headers.get("Content-Type", "").partition(";")[0].strip() != _MEDIA_TYPE:
        return None
    try:
        return _PROBLEM.validate_json(got.content)
    except ValidationError:
        return None


def _seconds(headers: Mapping[str, str]) -> int | None:
    text = headers.get("Retry-After", "")
    return int(text) if _SECONDS.fullmatch(text) else None
