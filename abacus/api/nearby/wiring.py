"""How answers about a point are served: the application, who is let in, and what is asked."""

from dataclasses import replace
from functools import partial
from typing import Final

from starlette.types import ASGIApp

from abacus.api.auth import TEST, Access
from abacus.api.entrance import Entrance
from abacus.api.guarded_app import guarded_app
from abacus.api.http.wiring import http_limits
from abacus.api.nearby import routes
from abacus.api.nearby.told import offers_told
from abacus.api.server import bound
from abacus.engage.nearby.wiring import nearby_in_use
from abacus.engage.offers.rehearsal_wiring import rehearsed_qualifier
from abacus.engage.offers.wiring import asked_offers
from abacus.intake.partners.requests.journal import RequestJournal
from abacus.intake.partners.sandbox import SandboxDirectory
from abacus.intake.partners.signing_secrets import SigningSecrets
from abacus.intake.partners.wiring import partner_directory, request_journal
from abacus.ledger.store.read import STANDING
from abacus.people.wiring import people_directory
from abacus.platform.health import Health
from abacus.platform.migrations import has_sandbox
from abacus.platform.patience import until_available
from abacus.platform.postgres import LOOKUPS_BY_KEY, LOOKUPS_BY_VALUES
from abacus.platform.rooms import Rooms
from abacus.platform.sandbox import SESSION
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
_DATABASE_WITHIN_S: Final = 5.0
_READING: Final = 4  # connections
_LETTING_IN: Final = 2
_SANDBOX: Final = 2


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
    opened = partial(wiring.pool, settings=LOOKUPS_BY_KEY, keeps_nothing=True, within_s=_DATABASE_WITHIN_S)
    # Callers are let in over a pool of their own: it has room while members are read slowly.
    letting_in, reading = await opened(size=_LETTING_IN), await opened(size=_READING)
    directory, people = partner_directory(wiring, letting_in), people_directory(wiring, letting_in)
    journal = request_journal(wiring, letting_in)
    caches = await wiring.caches(letting_in)
    asked = await asked_offers(wiring, reading, STANDING, caches)
    nearby, offers = await nearby_in_use(wiring, reading, asked, caches, offers_told)
    access = Access(
        clock=wiring.clock,
        directory=directory,
        people=people,
        signing_secrets=SigningSecrets(wiring.secrets()),
        limiter=wiring.limiter(letting_in, apart="places:"),
        rooms=Rooms(nearby, offers.of_members),
    )
    if await until_available(partial(has_sandbox, letting_in), wiring.health):
        own = await opened(size=_SANDBOX, settings={**LOOKUPS_BY_VALUES, **SESSION})
        qualifier = rehearsed_qualifier(wiring, own, asked.qualifier, STANDING, caches)
        sandbox = Access(
            clock=access.clock,
            directory=SandboxDirectory(partner_directory(wiring, own), directory),
            people=people,
            signing_secrets=SigningSecrets(wiring.secrets()),
            limiter=wiring.limiter(own, apart="places:"),
            mode=TEST,
            rooms=Rooms(nearby, offers.rehearsing(qualifier)),
        )
        access = replace(access, sandbox=sandbox)
    app = nearby_app(access, wiring.process_health, journal)
    wiring.health.ready()
    return app
