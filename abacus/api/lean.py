"""Routes that read their JSON body themselves.

FastAPI makes the OpenAPI document of such a route from its signature, as of every other; filling that signature by
FastAPI took a third of each request.
"""

import inspect
from collections.abc import Callable, Coroutine
from email.message import Message
from typing import Any, Final, TypeAlias, TypeVar

from fastapi import Request
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope

from abacus.api.api_problem import ApiProblem
from abacus.api.json_body import read_json
from abacus.api.problems import problem_of_faults

_JSON: Final = "application/json"

Read = TypeVar("Read")


LeanHandler: TypeAlias = Callable[[Request], Coroutine[Any, Any, Response]]


class LeanRoute(APIRoute):
    """For endpoints that take the request, parts of the path and at most one body, and read headers from the request.
    A query, and endpoints with other parameters, are left to FastAPI.
    """

    def get_route_handler(self) -> LeanHandler:
        signature = self.dependant
        if len(signature.body_params) > 1 or signature.query_params or signature.header_params:
            return super().get_route_handler()
        return self.lean_handler()

    def lean_handler(self) -> LeanHandler:
        """For requests without a query: what the endpoint takes of it has its defaults. Raises `ValueError` for an
        endpoint with other parameters.
        """
        signature = self.dependant
        if len(signature.body_params) > 1 or signature.header_params:
            raise ValueError(f"{self.path} takes more than parts of the path, a query and a body")
        endpoint = self.endpoint
        declared = inspect.signature(endpoint).parameters
        parts = {each.name: TypeAdapter[Any](declared[each.name].annotation) for each in signature.path_params}
        bodies = {each.name: TypeAdapter[Any](declared[each.name].annotation) for each in signature.body_params}
        unasked = {
            each.name: TypeAdapter[Any](declared[each.name].annotation).validate_python({})
            for each in signature.query_params
        }

        async def handle(request: Request) -> Response:
            given = unasked | {name: _part(request, name, reader) for name, reader in parts.items()}
            for name, reader in bodies.items():
                given[name] = await read_body(request, reader.validate_python)
            answer: Response = await endpoint(request=request, **given)
            return answer

        return handle


def _part(request: Request, name: str, reader: TypeAdapter[Any]) -> Any:
    """A value of the path. Raises `ApiProblem`."""
    try:
        return reader.validate_python(request.path_params[name])
    except ValidationError as error:
        raise problem_of_faults(error, f"path/{name}") from None


async def read_body(request: Request, read: Callable[[Any], Read]) -> Read:
    """The body of the request, which is received here; `read` raises `ValidationError`. Raises `ApiProblem`."""
    return body_as(await content_of(request.receive), content_type_of(request.scope), read)


async def content_of(receive: Receive) -> bytes:
    """The body, as it comes. Raises `HTTPException` where it is too large, and `ClientDisconnect`."""
    message = await receive()
    content: bytes = message.get("body", b"")
    while message.get("more_body", False):
        message = await receive()
        content += message.get("body", b"")
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    return content


def content_type_of(scope: Scope) -> str:
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == b"content-type"), "")


def body_as(content: bytes, content_type: str, read: Callable[[Any], Read]) -> Read:
    """What `read` makes of a body that was received. Raises `ApiProblem`."""
    if content and not _is_json(content_type):
        raise ApiProblem("unsupported-media-type")
    document = read_json(content) if content else None
    try:
        return read(document)
    except ValidationError as error:
        raise problem_of_faults(error, "") from None


def _is_json(content_type: str) -> bool:
    if content_type == _JSON:
        return True
    message = Message()
    message["content-type"] = content_type
    kind = message.get_content_type()
    return kind == _JSON or (kind.startswith("application/") and kind.endswith("+json"))
