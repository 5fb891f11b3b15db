"""Requests and answers of the reference partner, as ASGI has them."""

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import orjson
from starlette.types import Receive, Scope, Send

from abacus.core.errors import AbacusError
from abacus.exchanges.decide.contract import JSON, OTHER_FACTS, PROBLEM, UNKNOWN_ID

_MOST_BYTES: Final = 64 * 1024
_MOST_POINTS: Final = 2**63 - 1
_LONGEST_NUMBER: Final = 100

_TITLES: Final = {
    "malformed": (400, "The request cannot be read"),
    "bad-token": (401, "The token opens nothing"),
    "bad-signature": (401, "The signature does not hold"),
    "not-found": (404, "Not found"),
    UNKNOWN_ID: (404, "No such transfer"),
    "method-not-allowed": (405, "The path does not take this method"),
    OTHER_FACTS: (409, "The id is known with other facts"),
    "too-large": (413, "The body is too long"),
    "unavailable": (503, "Try again later"),
}


class Problem(AbacusError):
    """The answer is this problem."""

    def __init__(self, kind: str, detail: str = "", **members: Any) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind, self.detail, self.members = kind, detail, members

    def reply(self) -> "Reply":
        status, title = _TITLES.get(self.kind, (422, "The transfer is refused"))
        document = {"type": self.kind, "title": title, "status": status, "detail": self.detail or title, **self.members}
        return Reply(status, document, PROBLEM)


class Reply(NamedTuple):
    """An answer: a document as JSON, or a body of its own."""

    status: int
    document: Mapping[str, Any]
    media_type: str = JSON
    headers: Mapping[str, str] = MappingProxyType({})
    body: bytes | None = None


class Request(NamedTuple):
    """A request, read to its end."""

    method: str
    path: str
    query: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Mapping[str, Any]:
        """Raises `Problem`."""
        try:
            document = orjson.loads(self.body)
        except orjson.JSONDecodeError:
            raise Problem("malformed", "the body is no JSON") from None
        if not isinstance(document, dict):
            raise Problem("malformed", "the body is no object")
        return document


async def read_request(scope: Scope, receive: Receive) -> Request:
    """Raises `Problem`."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Problem("malformed", "the caller has left")
        body += message.get("body", b"")
        if len(body) > _MOST_BYTES:
            raise Problem("too-large")
        if not message.get("more_body", False):
            break
    path, query = scope["raw_path"].decode("latin-1"), scope["query_string"].decode("latin-1")
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    return Request(scope["method"], path, query, f"{path}?{query}" if query else path, headers, bytes(body))


async def answer(send: Send, reply: Reply) -> None:
    body = orjson.dumps(reply.document) if reply.body is None else reply.body
    headers = [(b"content-type", reply.media_type.encode()), (b"content-length", b"%d" % len(body))]
    headers += [(name.encode(), value.encode("latin-1", "replace")) for name, value in reply.headers.items()]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def cut(send: Send) -> None:
    """ASGI has no word for it: `send` is a method of uvicorn's request, which has the connection."""
    send.__self__.transport.abort()  # type: ignore[attr-defined]  # as above
    await asyncio.sleep(0)  # uvicorn hears of it


def account_in(document: Mapping[str, Any]) -> tuple[str, str | None]:
    """Raises `Problem`."""
    number, holder = document.get("number"), document.get("holder")
    if not isinstance(number, str) or not 0 < len(number) <= _LONGEST_NUMBER or not isinstance(holder, str | None):
        raise Problem("malformed", "an account has a number, and may have a holder")
    return number, holder


def points_in(document: Mapping[str, Any], name: str) -> int:
    """Raises `Problem`."""
    points = document.get(name)
    if not isinstance(points, int) or isinstance(points, bool) or not 0 < points <= _MOST_POINTS:
        raise Problem("malformed", f"{name} is a whole number above 0")
    return points
