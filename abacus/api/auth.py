"""Authentication: a partner by its key and, where it signs, its signature; a person by its token; and the rate limit.

An ASGI application around the routes and not a dependency of each: FastAPI's dependencies cost more than all of this.
"""

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from abacus.api.api_problem import ApiProblem
from abacus.api.problems import problem_of
from abacus.core.clock import Clock
from abacus.core.errors import Refused, Unavailable
from abacus.core.ids import partner_key, person_key
from abacus.core.sources import Agent
from abacus.core.tokens import PERSON_TOKEN
from abacus.intake.partners.decide.partner import TEST_KEY, Partner
from abacus.intake.partners.decide.signature import BadSignature, SignedRequest, check_signature
from abacus.intake.partners.signing_secrets import SigningSecrets
from abacus.ledger.decide.allowance import Allowance
from abacus.people.decide.rights import check, may, may_somewhere, roles_for, words
from abacus.people.directory import PeopleDirectory
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor
from abacus.platform.rate_limits.limiter import RateLimiter
from abacus.platform.rooms import Rooms

_GUARDED: Final = "/v1/"
_SIGNED: Final = "/v1/exchange-callbacks/"  # the routes that check a signature themselves, and ask for no key
_REQUESTS_OF_A_PERSON: Final = 3000  # a minute, over all processes of the API
_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="abacus"'}


LIVE: Final = "live"
TEST: Final = "test"


class PartnerDirectory(Protocol):
    """Finds the partner of a key. Both methods raise `Unavailable` when no partners were ever read."""

    async def find(self, text: str) -> Partner | None: ...

    def allowance(self, partner_id: str) -> Allowance: ...


@dataclass(frozen=True)
class Access:
    """What lets callers in, and the rooms that are open to them. One for each process, and one more for the sandbox."""

    clock: Clock
    directory: PartnerDirectory
    people: PeopleDirectory
    signing_secrets: SigningSecrets
    limiter: RateLimiter
    rooms: Rooms
    mode: str = LIVE
    sandbox: "Access | None" = None  # for test keys; it has none itself

    def label(self, partner_id: str) -> str:
        """The partner's name in metrics, which count its awards in the sandbox apart."""
        return partner_id if self.mode == LIVE else f"{self.mode}:{partner_id}"


class Call(NamedTuple):
    """The partner of a request, and what is open to it."""

    partner: Partner
    access: Access

    @property
    def rooms(self) -> Rooms:
        return self.access.rooms

    @property
    def agent(self) -> Agent:
        return self.partner.agent

    def key(self, idempotency_key: str) -> str:
        """The key of a change that it asks for."""
        return partner_key(self.partner.partner_id, idempotency_key)

    def is_open(self, deed: Deed, country: str) -> bool:  # noqa: ARG002  # a partner's rights are no roles
        """Whether it may do this in the country."""
        return self.partner.may_award_in(country)

    def check_somewhere(self, deed: Deed) -> None:
        """A partner's key says itself what it may."""

    def check_adjusts(self) -> None:
        """Raises `ApiProblem` for a partner that may not adjust points."""
        if not self.partner.may_adjust:
            raise ApiProblem("adjustments-not-allowed")

    def check(self, deed: Deed, country: str) -> None:
        """Raises `ApiProblem` where it may not do this in the country."""
        if not self.is_open(deed, country):
            raise ApiProblem("country-not-allowed", f"this partner may not do that in {country}")


class PersonCall(NamedTuple):
    """The person of a request, and what is open to it."""

    actor: Actor
    access: Access

    @property
    def rooms(self) -> Rooms:
        return self.access.rooms

    @property
    def agent(self) -> Agent:
        return self.actor.agent

    def key(self, idempotency_key: str) -> str:
        """The key of a change that it asks for."""
        return person_key(self.actor.name, idempotency_key)

    def is_open(self, deed: Deed, country: str | None) -> bool:
        """Whether its roles allow this in the country."""
        return may(self.actor, deed, country)

    def check_somewhere(self, deed: Deed) -> None:
        """Raises `ApiProblem` where no role of the person allows this in any country, whatever there is."""
        if not may_somewhere(self.actor, deed):
            roles = " or ".join(roles_for(deed))
            raise ApiProblem("role-needed", f"{self.actor.name} may not {words(deed)}; that takes the role {roles}")

    def check(self, deed: Deed, country: str | None) -> None:
        """Raises `ApiProblem` where its roles do not allow this in the country."""
        try:
            check(self.actor, deed, country)
        except Refused as fault:
            raise ApiProblem("role-needed", str(fault)) from None


def caller_of(request: Request) -> Call | PersonCall:
    """The partner or the person of this request, for a route that is open to both."""
    call: Call | PersonCall = request.scope["state"]["call"]
    return call


def call_of(request: Request) -> Call:
    """The partner of this request. Raises `ApiProblem` for a person."""
    return partner_of(caller_of(request))


def partner_of(call: Call | PersonCall) -> Call:
    """The call, if it is a partner's. Raises `ApiProblem` for a person."""
    if isinstance(call, PersonCall):
        raise ApiProblem("partner-needed")
    return call


def person_of(request: Request) -> PersonCall:
    """The person of this request. Raises `ApiProblem` for a partner."""
    call = caller_of(request)
    if isinstance(call, Call):
        raise ApiProblem("person-needed", f"this is the key of the partner {call.partner.partner_id}")
    return call


def access_of(request: Request) -> Access:
    """What is open to a request without a key, on a route that checks a signature itself."""
    access: Access = request.scope["state"]["access"]
    return access


class Guard:
    """Lets partners and people through to the routes that know them, and everyone to the open routes."""

    def __init__(self, app: ASGIApp, routes: Sequence[BaseRoute], access: Access) -> None:
        self._app = app
        self._routes = routes
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(_SIGNED):
            scope["state"]["access"] = self._access
        elif scope["type"] == "http" and scope["path"].startswith(_GUARDED):
            try:
                authorization = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
                call = await self._call(authorization, scope["state"])
                if isinstance(call, Call):
                    secret = await call.access.signing_secrets.of(call.partner)
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
        return next((route for route in self._routes if route.matches(scope)[0] is Match.FULL), None)

    async def _call(self, authorization: str, state: MutableMapping[str, Any]) -> Call | PersonCall:
        """The person, or the partner with the access of its key: that of a test key leads to nothing live. Raises
        `ApiProblem`, or `Unavailable` when the partners, or the people, were never read.
        """
        answer_headers = state["headers"]
        scheme, _, key = authorization.partition(" ")
        if scheme.lower() != "bearer":
            raise ApiProblem("unauthorized", headers=_CHALLENGE)
        key = key.strip()
        if PERSON_TOKEN.fits(key):
            actor = await self._access.people.find(key)
            if actor is None:
                raise ApiProblem("unauthorized", "the token is not valid", headers=_CHALLENGE)
            await _take(self._access, actor.source, _REQUESTS_OF_A_PERSON, answer_headers)
            return PersonCall(actor, self._access)
        access = self._access.sandbox if key.startswith(TEST_KEY.start) else self._access
        partner = await access.directory.find(key) if access is not None else None
        if access is None or partner is None:
            raise ApiProblem("unauthorized", "the key is not valid", headers=_CHALLENGE)
        state["partner_id"], state["mode"] = partner.partner_id, access.mode
        if access.mode != LIVE:
            answer_headers["abacus-mode"] = access.mode
        await _take(access, partner.source, partner.requests_per_minute, answer_headers)
        return Call(partner, access)

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
            check_signature(secret, signed, self._access.clock.now())
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


async def _take(access: Access, who: str, requests_per_minute: int, answer_headers: dict[str, str]) -> None:
    """Counts the request. Raises `ApiProblem` for one too many."""
    permit = await access.limiter.take(who, requests_per_minute)
    answer_headers["ratelimit-limit"] = str(permit.limit)
    answer_headers["ratelimit-remaining"] = str(permit.remaining)
    answer_headers["ratelimit-reset"] = str(permit.reset_s)
    if permit.wait_s:
        detail = f"more than {permit.limit} requests a minute"
        raise ApiProblem("too-many-requests", detail, headers={"Retry-After": str(permit.wait_s)})
