"""The console as one application: its pages, its files, the probes of its process, and the headers of every answer."""

from collections.abc import Mapping, Sequence
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from abacus.api.front import Front
from abacus.api.health import probe_routes
from abacus.console.pages import (
    approvals,
    campaigns,
    categories,
    contact,
    counters,
    downstreams,
    drafts,
    events,
    exchange_books,
    exchanges,
    finance,
    home,
    journeys,
    members,
    offers,
    operations,
    partners,
    people,
    places,
    rates,
    redemptions,
    rewards,
    search,
    segments,
)
from abacus.console.pages.people.sign_in import SignIn
from abacus.console.premises import Premises
from abacus.console.web.answer import Answers
from abacus.console.web.assets import Assets
from abacus.console.web.cookies import Cookies
from abacus.console.web.faults import PageFault
from abacus.console.web.routes import Routing, Served
from abacus.platform.health import Health

POLICY: Final = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
_ALWAYS: Final[Mapping[bytes, bytes]] = {
    b"content-security-policy": POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"x-frame-options": b"DENY",
}
_UNLESS_KEPT: Final = (b"cache-control", b"no-store")
_OVER_TLS: Final = (b"strict-transport-security", b"max-age=31536000")


class Guarded:
    """An application whose answers carry these headers."""

    def __init__(self, app: ASGIApp, *, secure: bool) -> None:
        self._app = app
        self._more = [*_ALWAYS.items(), *([_OVER_TLS] if secure else [])]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message["headers"])
                kept = any(name.lower() == b"cache-control" for name, _ in headers)
                message["headers"] = [*headers, *self._more, *([] if kept else [_UNLESS_KEPT])]
            await send(message)

        await self._app(scope, receive, answer if scope["type"] == "http" else send)


# A capability with pages takes its place here, and in the navigation.
_CAPABILITIES: Final = (
    home,
    approvals,
    rates,
    campaigns,
    journeys,
    offers,
    rewards,
    exchanges,
    categories,
    contact,
    places,
    redemptions,
    drafts,
    members,
    partners,
    counters,
    events,
    downstreams,
    exchange_books,
    finance,
    operations,
    people,
    search,
    segments,
)
SERVED: Final = tuple(served for capability in _CAPABILITIES for served in capability.SERVED)


def console_app(premises: Premises, health: Health, pages: Sequence[Served] = SERVED) -> ASGIApp:
    assets = Assets()
    answers, cookies = Answers(assets, premises.clock), Cookies(secure=premises.address.is_secure)
    routing = Routing(premises, cookies, answers)
    app = Starlette(
        routes=[
            *probe_routes(health),
            assets.route(),
            *SignIn(premises, cookies, answers).routes(routing),
            *(routing.route(each) for each in pages),
        ],
        exception_handlers={HTTPException: routing.elsewhere, PageFault: routing.elsewhere},
    )
    app.router.redirect_slashes = False
    return Guarded(Front(app), secure=premises.address.is_secure)
