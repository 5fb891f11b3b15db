"""How offers are served: the application, who is let in, and what is asked, of the live members and of the sandbox."""

from dataclasses import replace
from functools import partial
from typing import Final

from starlette.types import ASGIApp

from abacus.api.auth import TEST, Access
from abacus.api.entrance import Entrance
from abacus.api.guarded_app import guarded_app
from abacus.api.http.wiring import http_limits
from abacus.api.offers import routes, taking
from abacus.api.offers.guesses import Guesses
from abacus.api.server import bound
from abacus.engage.offers.offer_store import OfferStore, OfferVersions
from abacus.engage.offers.rehearsal_wiring import RehearsedOffers, rehearsed_offers
from abacus.engage.offers.till_wiring import taken_offers
from abacus.engage.offers.wiring import asked_offers
from abacus.intake.partners.directory import Directory
from abacus.intake.partners.requests.journal import RequestJournal
from abacus.intake.partners.sandbox import SandboxDirectory
from abacus.intake.partners.signing_secrets import SigningSecrets
from abacus.intake.partners.wiring import partner_directory, request_journal
from abacus.ledger.store.read import STANDING
from abacus.people.wiring import people_directory
from abacus.platform.health import Health
from abacus.platform.migrations import has_sandbox
from abacus.platform.patience import until_available
from abacus.platform.postgres import LOOKUPS_BY_KEY, LOOKUPS_BY_VALUES, Pool
from abacus.platform.rooms import Rooms
from abacus.platform.sandbox import SESSION
from abacus.platform.wiring import Run, Wiring

_DESCRIPTION: Final = """
Which offers does a member get for these products, now? What would named offers save on a basket? An offer is reserved,
redeemed with the basket that is paid, and rolled back.

Money is a decimal text. A time is a text of RFC 3339 with an offset. Every error is an `application/problem+json`
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


def offer_app(access: Access, health: Health, journal: RequestJournal | None = None) -> ASGIApp:
    return guarded_app(
        "Abacus offers",
        _DESCRIPTION,
        [routes.router, taking.router],
        access,
        health,
        keys=_KEYS,
        journal=journal,
        hot=routes.HOT,
        parted=taking.PARTED,
    )


async def offers(wiring: Wiring) -> Run:
    settings = wiring.settings
    listener = bound(settings.offers_host, settings.offers_port, "ABACUS_OFFERS_HOST and ABACUS_OFFERS_PORT")
    return Entrance(wiring.process_health, listener, http_limits(settings)).to(partial(_opened, wiring))


async def _opened(wiring: Wiring) -> ASGIApp:
    opened = partial(wiring.pool, settings=LOOKUPS_BY_KEY, keeps_nothing=True, within_s=_DATABASE_WITHIN_S)
    # Callers are let in over a pool of their own: it has room while members are read slowly.
    letting_in, reading = await opened(size=_LETTING_IN), await opened(size=_READING)
    directory, people = partner_directory(wiring, letting_in), people_directory(wiring, letting_in)
    limiter, journal = wiring.limiter(letting_in, apart="offers:"), request_journal(wiring, letting_in)
    caches = await wiring.caches(letting_in)
    asked = await asked_offers(wiring, reading, STANDING, caches)
    taken = await taken_offers(wiring, asked)
    access = Access(
        clock=wiring.clock,
        directory=directory,
        people=people,
        signing_secrets=SigningSecrets(wiring.secrets()),
        limiter=limiter,
        rooms=Rooms(asked.qualifier, taken.till, taken.codes, Guesses(limiter)),
    )
    if await until_available(partial(has_sandbox, letting_in), wiring.health):
        own = await opened(size=_SANDBOX, settings={**LOOKUPS_BY_VALUES, **SESSION})
        offers = rehearsed_offers(
            wiring,
            own,
            asked.qualifier,
            taken.codes,
            OfferVersions(OfferStore(reading)).of,
            live_pool=reading,
            standing=STANDING,
            caches=caches,
        )
        access = replace(access, sandbox=_sandbox(wiring, access, directory, offers, own))
    app = offer_app(access, wiring.process_health, journal)
    wiring.health.ready()
    return app


def _sandbox(wiring: Wiring, live: Access, live_directory: Directory, offers: RehearsedOffers, pool: Pool) -> Access:
    return Access(
        clock=live.clock,
        directory=SandboxDirectory(partner_directory(wiring, pool), live_directory),
        people=live.people,
        signing_secrets=SigningSecrets(wiring.secrets()),
        limiter=wiring.limiter(pool, apart="offers:"),
        mode=TEST,
        rooms=Rooms(offers.qualifier, offers.till, offers.codes, live.rooms[Guesses]),
    )
