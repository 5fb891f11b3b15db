"""The reason why a try failed: the API's problem document, or ours when there is none. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

import httpx

from abacus_client.reading import read

KEY_IN_FLIGHT: Final = "key-in-flight"
NO_ANSWER: Final = "no-answer"  # the request may or may not have arrived
NOT_SENT: Final = "not-sent"  # nor can it ever be
UNREADABLE: Final = "unreadable"  # a success, but not an answer of this API
UNTYPED: Final = "about:blank"  # by RFC 9457: it is no more than its status says

_MEDIA_TYPE: Final = "application/problem+json"
_PASSING: Final = frozenset({429, 502, 503, 504})
_SECONDS: Final = re.compile(r"[0-9]{1,9}")  # never a date: this API sends none


@dataclass(frozen=True, slots=True)
class FieldFault:
    """One field that is not as it must be; `pointer` names it by RFC 6901."""

    pointer: str
    detail: str


@dataclass(frozen=True, slots=True)
class Problem:
    """`type` is the last part of the API's, stable and made for programs. `status` is missing where no answer came."""

    type: str
    title: str
    status: int | None = None
    detail: str = ""
    request_id: str | None = None
    errors: tuple[FieldFault, ...] = ()
    award_id: UUID | None = None  # of an award that was rejected while it was waited for
    retry_after: int | None = None  # in seconds

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", self.type.rpartition("/")[2])  # the address before it differs by server

    @property
    def passing(self) -> bool:
        """The same request may succeed later."""
        return self.status in _PASSING or self.type in {KEY_IN_FLIGHT, NO_ANSWER}


def problem_of(outcome: httpx.Response | httpx.RequestError) -> Problem:
    """The problem of a failed try."""
    if isinstance(outcome, httpx.RequestError):
        sendable = not isinstance(outcome, httpx.LocalProtocolError | httpx.UnsupportedProtocol)
        words = str(outcome) or type(outcome).__name__
        return (
            Problem(NO_ANSWER, "No answer", detail=words) if sendable else Problem(NOT_SENT, "Not sent", detail=words)
        )
    return replace(
        _told(outcome) or Problem(UNTYPED, outcome.reason_phrase or "An error that is not the API's"),
        status=outcome.status_code,
        retry_after=_seconds(outcome.headers),
    )


def unreadable(outcome: httpx.Response, why: ValueError) -> Problem:
    """The problem of a try that succeeded by its status, with an unreadable answer."""
    request_id = outcome.headers.get("X-Request-Id")
    return Problem(UNREADABLE, "The answer cannot be read", outcome.status_code, str(why), request_id)


def _told(outcome: httpx.Response) -> Problem | None:
    """The problem document of the API; None if another server answered in its place."""
    if outcome.headers.get("Content-Type", "").partition(";")[0].strip() != _MEDIA_TYPE:
        return None
    try:
        return read(Problem, outcome.content)
    except ValueError:
        return None


def _seconds(headers: Mapping[str, str]) -> int | None:
    text = headers.get("Retry-After", "")
    return int(text) if _SECONDS.fullmatch(text) else None
