"""Routes that shops ask while a page loads, served before the framework: its way to a route costs more than the answer.

FastAPI documents such a route as every other, and answers what has another method. `HotRoutes` stands behind the guard,
so that callers, limits and problems are the same (docs/adr/0111).
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Generic, NamedTuple, TypeVar

from fastapi import FastAPI
from pydantic import TypeAdapter
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from abacus.api import problems
from abacus.api.auth import Call, PersonCall
from abacus.api.lean import body_as

Asked = TypeVar("Asked")


class HotRoute(NamedTuple, Generic[Asked]):
    """A body, and the answer to it as JSON. The answer raises what a route of the framework may raise."""

    body: TypeAdapter[Asked]
    answer: Callable[[Call | PersonCall, Asked], Awaitable[bytes]]


_POST: Final = "POST"
_JSON: Final = (b"content-type", b"application/json")


class HotRoutes:
    """Answers to `POST` at some paths; everything else is left to the application."""

    def __init__(self, app: FastAPI, hot: Mapping[str, HotRoute[Any]]) -> None:
        self._app = app
        self._hot = hot
        documented = {path: route for route in app.routes if (path := getattr(route, "path", None)) in hot}
        self._documented = {path: documented[path] for path in hot}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        hot = self._hot.get(scope["path"]) if scope["type"] == "http" and scope["method"] == _POST else None
        if hot is None:
            await self._app(scope, receive, send)
            return
        scope["route"] = self._documented[scope["path"]]  # for the metrics
        try:
            asked = body_as(await _content(receive), _content_type(scope), hot.body.validate_python)
            answer = await hot.answer(scope["state"]["call"], asked)
        except problems.ANSWERED as error:
            await problems.problem_for(error).response(scope["state"]["request_id"])(scope, receive, send)
            return
        headers = [_JSON, (b"content-length", str(len(answer)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})


async def _content(receive: Receive) -> bytes:
    """The body. Raises `HTTPException` where it is too large, and `ClientDisconnect`."""
    message = await receive()
    content: bytes = message.get("body", b"")
    while message.get("more_body", False):
        message = await receive()
        content += message.get("body", b"")
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    return content


def _content_type(scope: Scope) -> str:
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == b"content-type"), "")
