"""Authentication: the key, the rate limit and, where the partner signs, the signature.

An ASGI application around the routes and not a dependency of each: FastAPI's dependencies cost more than all of this.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import BaseRoute, Match
from starlette.types import Message, Receive, Scope, Send

from abacus.api.backends import LIVE, Backends
from abacus.api.problems import ApiProblem, problem_of
from abacus.core.errors import Unavailable
from abacus.intake.partners.decide.keys import is_test_key
from abacus.intake.partners.decide.partner import Partner
from abacus.intake.partners.decide.signature import BadSignature, SignedRequest, check_signature

_GUARDED: Final = "/v1/"
_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="abacus"'}


class Call(NamedTuple):
    """The partner of a request, and the backends for answering it."""

    partner: Partner
    backends: Backends


def call_of(request: Request) -> Call:
    """The partner and the backends of this request."""
    call: Call = request.scope["state"]["call"]
    return call


class Guard:
    """Lets partners through to the routes for partners, and everyone to the open routes."""

    def __init__(self, app: FastAPI, backends: Backends) -> None:
        self._app = app
        self._backends = backends

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(_GUARDED):
            try:
                headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
                call = await self._call(headers, scope["state"]["headers"])
                secret = await call.backends.signing_secrets.of(call.partner)
                if secret is not None:
                    receive = await self._signed(secret, scope, receive)
            except (ApiProblem, Unavailable) as error:
                problem = error if isinstance(error, ApiProblem) else problem_of(error)
                scope["route"] = self._route(scope)  # for the metrics: nobody else looks for it now
                await problem.response(scope["state"]["request_id"])(scope, receive, send)
                return
            scope["state"]["call"] = call
        await self._app(scope, receive, send)

    def _route(self, scope: Scope) -> BaseRoute | None:
        return next((route for route in self._app.routes if route.matches(scope)[0] is Match.FULL), None)

    async def _call(self, headers: Mapping[str, str], answer_headers: dict[str, str]) -> Call:
        """The partner with the backends for its key: those of a test key lead to nothing live. Raises `ApiProblem`, or
        `Unavailable` when no partners were ever read.
        """
        scheme, _, key = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise ApiProblem("unauthorized", headers=_CHALLENGE)
        key = key.strip()
        backends = self._backends.sandbox if is_test_key(key) else self._backends
        partner = await backends.directory.find(key) if backends is not None else None
        if backends is None or partner is None:
            raise ApiProblem("unauthorized", "the key is not valid", headers=_CHALLENGE)
        if backends.mode != LIVE:
            answer_headers["abacus-mode"] = backends.mode
        permit = await backends.limiter.take(partner.source, partner.requests_per_minute)
        answer_headers["ratelimit-limit"] = str(permit.limit)
        answer_headers["ratelimit-remaining"] = str(permit.remaining)
        answer_headers["ratelimit-reset"] = str(permit.reset_s)
        if permit.wait_s:
            raise ApiProblem(
                "too-many-requests",
                f"more than {permit.limit} requests a minute",
                headers={"Retry-After": str(permit.wait_s)},
            )
        return Call(partner, backends)

    async def _signed(self, secret: str, scope: Scope, receive: Receive) -> Receive:
        """Checks the signature, and returns a `receive` that gives the checked body again. Raises `ApiProblem`."""
        try:
            body = await Request(scope, receive).body()
        except HTTPException:
            raise ApiProblem("too-large") from None
        query = scope["query_string"].decode("latin-1")
        path = scope["raw_path"].decode("latin-1")
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        try:
            signed = SignedRequest.of(scope["method"], f"{path}?{query}" if query else path, body, headers)
            check_signature(secret, signed, self._backends.clock.now())
        except BadSignature as error:
            raise ApiProblem("bad-signature", str(error), headers=_CHALLENGE) from None
        given = False

        async def again() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        return again
