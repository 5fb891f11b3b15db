"""The outermost layer of the API: it gives each request an id, limits its body, counts it, and answers even after a
crash.
"""

import re
import secrets
import time
from collections.abc import MutableMapping
from typing import Any, Final

import structlog
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from abacus.api.problems import MEDIA_TYPE, ApiProblem
from abacus.platform.metrics import REQUEST_SECONDS, REQUESTS

MOST_BYTES: Final = 2 * 1024 * 1024  # a batch of the longest thousand awards, however their JSON is written
_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")

log = structlog.get_logger(__name__)


class Front:
    """An ASGI application around the API's."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        headers = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"")
        request_id = given.decode() if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        state: MutableMapping[str, Any] = scope.setdefault("state", {})
        state["request_id"], state["headers"] = request_id, {}
        status = 500
        started = False

        async def answer(message: Message) -> None:
            nonlocal status, started
            if message["type"] == "http.response.start":
                status, started = message["status"], True
                extra = {"x-request-id": request_id, **state["headers"]}
                message["headers"] = [*message["headers"], *((k.encode(), v.encode()) for k, v in extra.items())]
            await send(message)

        try:
            if _declared(headers) > MOST_BYTES:
                await _plain_problem(ApiProblem("too-large"), request_id, answer)
            else:
                await self._app(scope, _bounded(receive), answer)
        except Exception:
            log.exception("request failed", request_id=request_id, path=scope["path"])
            if not started:
                await _plain_problem(ApiProblem("internal"), request_id, answer)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            REQUESTS.labels(route, str(status)).inc()
            REQUEST_SECONDS.labels(route).observe(time.perf_counter() - began)


def _declared(headers: dict[bytes, bytes]) -> int:
    length = headers.get(b"content-length", b"0")
    return int(length) if length.isdigit() else 0


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


async def _plain_problem(problem: ApiProblem, request_id: str, send: Send) -> None:
    headers = [(b"content-type", MEDIA_TYPE.encode())]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": problem.body(request_id)})
