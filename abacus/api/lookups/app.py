"""The application that answers lookups of counters, put together. It has a port of its own, and scales by itself."""

from typing import Final

from starlette.types import ASGIApp

from abacus.api.auth import Access
from abacus.api.guarded_app import guarded_app
from abacus.api.lookups import routes
from abacus.intake.partners.requests.journal import RequestJournal
from abacus.platform.health import Health

_DESCRIPTION: Final = """
How often did it happen? Counters answer for any key, in any range of time, up to a hundred at once.

Times are RFC 3339 with an offset, or seconds since 1970. Every error is a document like those of
`application/problem+json`, with a stable `type`.
"""
_KEYS: Final = "The key of a partner that may read counters, `abk_live_…`; or a person's token, `abp_…`"


def count_app(access: Access, health: Health, journal: RequestJournal | None = None) -> ASGIApp:
    return guarded_app("Abacus counts", _DESCRIPTION, [routes.router], access, health, keys=_KEYS, journal=journal)
