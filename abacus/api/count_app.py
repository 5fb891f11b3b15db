"""The application that answers lookups of counters, put together. It has a port of its own, and scales by itself."""

from typing import Final

from starlette.types import ASGIApp

from abacus.api import counts, problems
from abacus.api.auth import Access, Guard
from abacus.api.document import bare_app, describe
from abacus.api.front import Front
from abacus.api.health import probe_routes
from abacus.api.manual import manual_routes
from abacus.intake.partners.requests.journal import RequestJournal
from abacus.platform.health import Health

_DESCRIPTION: Final = """
How often did it happen? Counters answer for any key, in any range of time, up to a hundred at once.

Times are RFC 3339 with an offset, or seconds since 1970. Every error is a document like those of
`application/problem+json`, with a stable `type`.
"""
_KEYS: Final = "The key of a partner that may read counters, `abk_live_…`; or a person's token, `abp_…`"


def count_app(
    access: Access, health: Health, public_url: str | None = None, journal: RequestJournal | None = None
) -> ASGIApp:
    """The application. `public_url` is the address that callers use, for its document."""
    app = bare_app("Abacus counts", _DESCRIPTION)
    problems.install(app)
    for router in (counts.router, problems.router):
        app.router.routes.extend(router.routes)
    app.router.routes.extend([*probe_routes(health), *manual_routes(public_url)])
    describe(app, _KEYS, public_url)
    return Front(Guard(app, access), journal)
