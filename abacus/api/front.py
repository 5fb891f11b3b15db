"""The outermost layer of the API: it gives each request an id, limits its body, refuses ambiguous headers, counts
and notes the request, and answers even after a crash. An answer whose route does not say who may keep it is kept by
nobody.
"""

import random
import re
import time
from collections.abc import Iterable, Mapping, MutableMapping
from http import HTTPStatus
from typing import Any, Final, NamedTuple
from uuid import uuid4

import orjson
import structlog
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from abacus.api.api_problem import MEDIA_TYPE, TYPES, ApiProblem
from abacus.api.idempotency import IDEMPOTENCY_KEY_HEADER
from abacus.api.metrics import requests_of, seconds_of
from abacus.intake.partners.decide.signature import SIGNATURE_HEADER, TIMESTAMP_HEADER
from abacus.intake.partners.requests.journal import LONGEST_DETAIL, RequestJournal
from abacus.intake.partners.requests.types import Noted

_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class Answered(NamedTuple):
    """The answer to a request, by the pattern of its path; `refusal` is the body of a refusing answer."""

    route: str
    status: int
    refusal: bytes
    took_s: float


def note(journal: RequestJournal, scope: Scope, answered: Answered) -> None:
    """Notes requests of partners only: not of people, nor of unknown callers."""
    state = scope["state"]
    partner_id = state.get("partner_id")
    refused = answered.status >= HTTPStatus.BAD_REQUEST
    if partner_id is None or (scope["method"] in _READS and not refused):
        return
    now = journal.takes_one(refused=refused)
    if now is None:
        return
    problem, detail = _problem(answered.refusal) if refused else (None, None)
    journal.note(
        Noted(
            partner_id=partner_id,
            at=now,
            noted_id=uuid4(),
            request_id=state["request_id"],
            mode=state["mode"],
            method=scope["method"],
            path=answered.route,
            status=answered.status,
            took_s=answered.took_s,
            problem=problem,
            detail=detail,
        )
    )


def _problem(refusal: bytes) -> tuple[str | None, str | None]:
    """The type and the detail of a problem document."""
    try:
        document: Any = orjson.loads(refusal)
    except orjson.JSONDecodeError:
        return None, None
    kind, detail = document.get("type"), document.get("detail") or document.get("title")
    return kind and kind.removeprefix(TYPES), detail and detail.replace("\0", "")[:LONGEST_DETAIL]


MOST_BYTES: Final = 2 * 1024 * 1024  # a batch of the longest thousand awards, however their JSON is written
HUNG_UP: Final = 499  # the status by which metrics count a caller that did not wait for the answer
# A proxy before us may have looked at the one, and we would look at the other.
_ONLY_ONCE: Final = frozenset(
    {
        b"authorization",
        b"content-length",
        b"content-type",
        IDEMPOTENCY_KEY_HEADER.lower().encode(),
        SIGNATURE_HEADER.lower().encode(),
        TIMESTAMP_HEADER.lower().encode(),
        b"transfer-encoding",
    }
)
_CACHE_CONTROL: Final = b"cache-control"
_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")

log = structlog.get_logger(__name__)


class Front:
    """An ASGI application around the API's. Requests of partners are noted in the journal, where there is one."""

    def __init__(self, app: ASGIApp, journal: RequestJournal | None = None) -> None:
        self._app = app
        self._journal = journal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        headers = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"")
        request_id = given.decode() if _REQUEST_ID.fullmatch(given) else _new_id()
        state: MutableMapping[str, Any] = scope.setdefault("state", {})
        state["request_id"], state["headers"] = request_id, {}
        answer = _Answer(send, request_id, state["headers"])
        try:
            if _declared(headers) > MOST_BYTES:
                await answer.refuse(ApiProblem("too-large"))
            elif len(headers) < len(scope["headers"]) and (name := _named_twice(scope["headers"])) is not None:
                await answer.refuse(ApiProblem("malformed", f"the header {name} stands twice"))
            else:
                await self._app(scope, _bounded(receive), answer.send)
        except ClientDisconnect:
            answer.status = HUNG_UP
        except Exception:
            log.exception("request failed", request_id=request_id, path=scope["path"])
            if not answer.started:
                await answer.refuse(ApiProblem("internal"))
        finally:
            route = getattr(scope.get("route"), "path", "other")
            took_s = time.perf_counter() - began
            requests_of(route, answer.status).inc()
            seconds_of(route).observe(took_s)
            if self._journal is not None:
                note(self._journal, scope, Answered(route, answer.status, answer.refusal, took_s))


class _Answer:
    """Passes an answer on, with the headers that every answer has, and keeps what is counted and noted of it."""

    __slots__ = ("_headers", "_request_id", "_send", "refusal", "started", "status")

    def __init__(self, send: Send, request_id: str, headers: Mapping[str, str]) -> None:
        self._send = send
        self._request_id = request_id
        self._headers = headers
        self.status = 500
        self.started = False
        self.refusal = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status, self.started = message["status"], True
            extra = {"x-request-id": self._request_id, **self._headers}
            given = message["headers"]
            message["headers"] = [*given, *((k.encode(), v.encode()) for k, v in extra.items())]
            if not any(name.lower() == _CACHE_CONTROL for name, _ in given):
                message["headers"].append((_CACHE_CONTROL, b"no-store"))
        elif self.status >= HTTPStatus.BAD_REQUEST:
            self.refusal += message.get("body", b"")
        await self._send(message)

    async def refuse(self, problem: ApiProblem) -> None:
        headers = [(b"content-type", MEDIA_TYPE.encode())]
        await self.send({"type": "http.response.start", "status": problem.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": problem.body(self._request_id)})


def _new_id() -> str:
    """A name, not a secret: so it takes no random bytes of the system."""
    return f"{random.getrandbits(64):016x}"  # as above


def _declared(headers: dict[bytes, bytes]) -> int:
    length = headers.get(b"content-length", b"0")
    return int(length) if length.isdigit() else 0


def _named_twice(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    seen: set[bytes] = set()
    for name, _ in headers:
        if name in seen and name in _ONLY_ONCE:
            return name.decode()
        seen.add(name)
    return None


def _bounded(receive: Receive) -> Receive:
    """A `receive` that cuts off a body without a declared length once it is too long."""
    seen = 0

    async def bounded() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MOST_BYTES:
            raise HTTPException(413)
        return message

    return bounded
