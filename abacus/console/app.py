"""The console as one application: its pages, its files, the probes of its process."""

from collections.abc import Sequence
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from abacus.api.front import Front
from abacus.api.health import probe_routes
from abacus.console.pages import campaigns, counters, finance, home, members, operations, partners, people, rates
from abacus.console.pages.people.sign_in import SignIn
from abacus.console.premises import Premises
from abacus.console.web.answer import Answers
from abacus.console.web.assets import Assets
from abacus.console.web.cookies import Cookies
from abacus.console.web.faults import PageFault
from abacus.console.web.headers import Guarded
from abacus.console.web.routes import Routing, Served
from abacus.platform.health import Health

# A capability with pages takes its place here, and in the navigation.
_CAPABILITIES: Final = (home, rates, campaigns, members, partners, counters, finance, operations, people)
SERVED: Final = tuple(served for capability in _CAPABILITIES for served in capability.SERVED)


def console_app(premises: Premises, health: Health, pages: Sequence[Served] = SERVED) -> ASGIApp:
    assets = Assets()
    answers, cookies = Answers(assets), Cookies(secure=premises.address.is_secure)
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
