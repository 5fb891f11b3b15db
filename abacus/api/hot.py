"""Routes that are asked most, served before the framework: its way to a route costs more than the answer.

FastAPI documents such a route as every other, and answers what has another method. `HotRoutes` stands behind the guard,
so that callers, limits and problems are the same (docs/adr/0111).
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, Final, Generic, NamedTuple, TypeVar

from fastapi import FastAPI
from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from abacus.api import problems
from abacus.api.auth import Call, PersonCall
from abacus.api.cache_headers import Caching, Told, meant, told
from abacus.api.hot_paths import Address, HotPaths, first_that_fits
from abacus.api.lean import LeanHandler, LeanRoute, body_as, content_of, content_type_of

Asked = TypeVar("Asked")


class HotRoute(NamedTuple, Generic[Asked]):
    """A body, and the answer to it as JSON. The answer raises what a route of the framework may raise."""

    body: TypeAdapter[Asked]
    answer: Callable[[Call | PersonCall, Asked], Awaitable[bytes]]
    status: int = 200


class Page(NamedTuple):
    """An answer as JSON, and how old it is."""

    body: bytes
    age_s: float = 0.0


class HotRead(NamedTuple, Generic[Asked]):
    """What a query asks, the answer to it, and who may keep that. They raise what any route may raise. Where many
    queries have one answer, `tells_meaning` answers `HEAD`.
    """

    read: Callable[[bytes], Asked]
    answer: Callable[[Call | PersonCall, Asked], Awaitable[Page]]
    caching: Caching
    tells_meaning: bool = False

    @property
    def methods(self) -> Collection[str]:
        return (_GET, _HEAD) if self.tells_meaning else (_GET,)

    async def told(self, scope: Scope) -> Told:
        page = await self.answer(scope["state"]["call"], self.read(scope["query_string"]))
        if scope["method"] == _HEAD:
            return meant(scope, page.body, self.caching)
        return told(scope, page.body, self.caching, age_s=page.age_s)


NOTHING_READ: Final[Mapping[str, HotRead[Any]]] = MappingProxyType({})
_GET: Final = "GET"
_HEAD: Final = "HEAD"
_POST: Final = "POST"
_JSON: Final = (b"content-type", b"application/json")


class HotRoutes:
    """Answers `POST` at the paths of `hot`, and `GET` and `HEAD` at the paths of `reads`. A route of `lean`, which is a
    `LeanRoute` at that address, reads the request and answers it itself. The application answers everything else, and
    lean routes when they are asked with a query.
    """

    def __init__(
        self,
        app: FastAPI,
        hot: Mapping[str, HotRoute[Any]],
        lean: Collection[Address] = (),
        reads: Mapping[str, HotRead[Any]] = NOTHING_READ,
    ) -> None:
        """Raises `ValueError` for a lean route that the framework would not take."""
        self._app = app
        self._hot = hot
        self._reads = reads
        routes = {route.path: route for route in app.routes if isinstance(route, LeanRoute)}
        self._documented = {path: routes[path] for path in (*hot, *reads)}
        self._lean = HotPaths({address: _served(app, address) for address in lean})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif (read := self._reads.get(scope["path"])) is not None and scope["method"] in read.methods:
            await self._tell(read, scope, receive, send)
        elif scope["method"] == _POST and (hot := self._hot.get(scope["path"])) is not None:
            await self._answer(hot, scope, receive, send)
        elif not scope["query_string"] and (found := self._lean.find(scope["method"], scope["path"])) is not None:
            (route, handle), scope["path_params"] = found
            scope["route"] = route  # for the metrics
            await _handed(handle, scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _tell(self, read: HotRead[Any], scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = self._documented[scope["path"]]  # for the metrics
        try:
            status, headers, body = await read.told(scope)
        except problems.ANSWERED as error:
            await problems.problem_for(error).response(scope["state"]["request_id"])(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, hot: HotRoute[Any], scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = self._documented[scope["path"]]  # for the metrics
        try:
            asked = body_as(await content_of(receive), content_type_of(scope), hot.body.validate_python)
            answer = await hot.answer(scope["state"]["call"], asked)
        except problems.ANSWERED as error:
            await problems.problem_for(error).response(scope["state"]["request_id"])(scope, receive, send)
            return
        headers = [_JSON, (b"content-length", str(len(answer)).encode())]
        await send({"type": "http.response.start", "status": hot.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer})


async def _handed(handle: LeanHandler, scope: Scope, receive: Receive, send: Send) -> None:
    try:
        response = await handle(Request(scope, receive))
    except problems.ANSWERED as error:
        response = problems.problem_for(error).response(scope["state"]["request_id"])
    await response(scope, receive, send)


def _served(app: FastAPI, address: Address) -> tuple[LeanRoute, LeanHandler]:
    """The route at the address. Raises `ValueError` where there is none, or another takes what is asked there."""
    method, path = address
    for place, route in enumerate(app.routes):
        if isinstance(route, LeanRoute) and route.path == path and method in (route.methods or ()):
            before = [each for each in app.routes[:place] if isinstance(each, Route)]
            taken = first_that_fits(path, (each.path for each in before if method in (each.methods or {method})))
            if taken is not None:
                raise ValueError(f"{method} {path}: the framework takes {taken} for some of its paths")
            return route, route.lean_handler()
    raise ValueError(f"there is no lean route at {method} {path}")
