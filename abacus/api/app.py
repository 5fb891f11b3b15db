"""The partner award API, put together."""

from typing import Final

from starlette.types import ASGIApp

from abacus.api import (
    adjustments,
    approvals,
    award_batches,
    awards,
    campaigns,
    events,
    members,
    moves,
    preferences,
    problems,
)
from abacus.api.auth import Access, Guard
from abacus.api.document import bare_app, describe
from abacus.api.front import Front
from abacus.api.health import probe_routes
from abacus.api.manual import manual_routes
from abacus.intake.partners.requests.journal import RequestJournal
from abacus.platform.health import Health

_DESCRIPTION = """
Award points to members, exactly once, let them be spent, and read what became of them.

Points are integers, amounts are decimal strings, times are RFC 3339 with an offset. Every error is an
`application/problem+json` document with a stable `type`.
"""

_KEYS: Final = "A partner's key, `abk_live_…`, or `abk_test_…` for the sandbox; or a person's token, `abp_…`"


def api_app(
    access: Access, health: Health, public_url: str | None = None, journal: RequestJournal | None = None
) -> ASGIApp:
    """The API. `public_url` is the address that callers use, for its document; without one, the document names the
    address that it was fetched from, whatever that is: a request's Host header says nothing of TLS in front of us.
    """
    app = bare_app("Abacus", _DESCRIPTION)
    problems.install(app)
    # In one list: routers inside routers are searched one after the other for each request.
    for router in (
        awards.router,
        award_batches.router,
        moves.router,
        adjustments.router,
        approvals.router,
        campaigns.router,
        preferences.router,
        events.router,
        members.router,
        problems.router,
    ):
        app.router.routes.extend(router.routes)
    app.router.routes.extend([*probe_routes(health), *manual_routes(public_url)])
    describe(app, _KEYS, public_url)
    return Front(Guard(app, access), journal)
