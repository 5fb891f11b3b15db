"""The console as one application: its pages, its files, the probes of its process."""

from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from abacus.api.front import Front
from abacus.api.health import probe_routes
from abacus.console.backends import Backends
from abacus.console.pages import (
    approvals,
    audit,
    campaign,
    campaign_draft,
    campaign_trials,
    campaigns,
    counters,
    dead_letters,
    erasures,
    errands,
    finance,
    home,
    member_moves,
    members,
    month_close,
    operations,
    own_sessions,
    partner_changes,
    partner_requests,
    partners,
    people,
    quarantine,
    quarantine_selection,
    rate_draft,
    rate_quote,
    rates,
    settings,
    trust,
    where,
)
from abacus.console.pages.sign_in import SignIn
from abacus.console.web.answer import Answers
from abacus.console.web.assets import Assets
from abacus.console.web.cookies import Cookies
from abacus.console.web.faults import PageFault
from abacus.console.web.headers import Guarded
from abacus.console.web.routes import Routing

# A new module of pages takes its place here, and in the navigation.
SERVED: Final = (
    *home.SERVED,
    *rates.SERVED,
    *rate_draft.SERVED,
    *rate_quote.SERVED,
    *campaigns.SERVED,
    *campaign.SERVED,
    *campaign_trials.SERVED,
    *campaign_draft.SERVED,
    *approvals.SERVED,
    *members.SERVED,
    *member_moves.SERVED,
    *erasures.SERVED,
    *partners.SERVED,
    *partner_changes.SERVED,
    *partner_requests.SERVED,
    *counters.SERVED,
    *finance.SERVED,
    *month_close.SERVED,
    *trust.SERVED,
    *operations.SERVED,
    *quarantine.SERVED,
    *quarantine_selection.SERVED,
    *dead_letters.SERVED,
    *where.SERVED,
    *errands.SERVED,
    *own_sessions.SERVED,
    *people.SERVED,
    *audit.SERVED,
    *settings.SERVED,
)


def console_app(backends: Backends) -> ASGIApp:
    assets = Assets()
    answers, cookies = Answers(assets), Cookies(secure=backends.address.is_secure)
    routing = Routing(backends, cookies, answers)
    app = Starlette(
        routes=[
            *probe_routes(backends.health),
            assets.route(),
            *SignIn(backends, cookies, answers).routes(routing),
            *(routing.route(each) for each in SERVED),
        ],
        exception_handlers={HTTPException: routing.elsewhere, PageFault: routing.elsewhere},
    )
    app.router.redirect_slashes = False
    return Guarded(Front(app), secure=backends.address.is_secure)
