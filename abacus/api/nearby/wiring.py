"""How answers about a point are served: the application, who is let in, and what is asked."""

from functools import partial
from typing import Final

from starlette.types import ASGIApp

from abacus.api.auth import Access
from abacus.api.entrance import Entrance
from abacus.api.guarded_app import guarded_app
from abacus.api.http.wiring import http_limits
from abacus.api.nearby import routes, told
from abacus.api.porter import DATABASE_WITHIN_S, porter
from abacus.api.server import bound
from abacus.engage.nearby.wiring import nearby_in_use
from abacus.engage.offers.rehearsal_wiring import rehearsed_qualifier
from abacus.engage.offers.wiring import asked_offers
from abacus.intake.partners.requests.journal import RequestJournal
from abacus.ledger.store.read import STANDING
from abacus.platform.health import Health
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool
from abacus.platform.rooms import Rooms
from abacus.platform.wiring import Run, Wiring

_DESCRIPTION: Final = """
What is near a point: its regions, the nearest places, the best offers there, and what a purchase earns.

A point is given in degrees, as plain decimals; distances are metres. Every error is an `application/problem+json`
document with a stable `type`.
"""
_KEYS: Final = (
    "The key of a partner that may ask for offers, `abk_live_…`, or `abk_test_…` for the sandbox; or a person's token,"
    " `abp_…`"
)
_READING: Final = 4  # connections


def nearby_app(access: Access, health: Health, journal: RequestJournal | None = None) -> ASGIApp:
    return guarded_app(
        "Abacus places",
        _DESCRIPTION,
        [routes.router],
        access,
        health,
        keys=_KEYS,
        journal=journal,
        reads=routes.HOT,
    )


async def places(wiring: Wiring) -> Run:
    settings = wiring.settings
    listener = bound(settings.places_host, settings.places_port, "ABACUS_PLACES_HOST and ABACUS_PLACES_PORT")
    return Entrance(wiring.process_health, listener, http_limits(settings)).to(partial(_opened, wiring))


async def _opened(wiring: Wiring) -> ASGIApp:
    callers = await porter(wiring, "places:")
    reading = await wiring.pool(size=_READING, settings=LOOKUPS_BY_KEY, keeps_nothing=True, within_s=DATABASE_WITHIN_S)
    caches = await wiring.caches(callers.pool)
    asked = await asked_offers(wiring, reading, STANDING, caches)
    nearby, offers = await nearby_in_use(wiring, reading, asked, caches, told.Parts())

    def rehearsing(pool: Pool) -> Rooms:
        qualifier = rehearsed_qualifier(wiring, pool, asked.qualifier, STANDING, caches)
        return Rooms(nearby, offers.rehearsing(qualifier))

    access = await callers.with_sandbox(callers.access(Rooms(nearby, offers.of_members)), rehearsing)
    app = nearby_app(access, wiring.process_health, callers.journal)
    wiring.health.ready()
    return app
