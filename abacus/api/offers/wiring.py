"""How offers are served: the application, who is let in, and what is asked, of the live members and of the sandbox."""

from functools import partial
from typing import Final

from starlette.types import ASGIApp

from abacus.api.auth import Access
from abacus.api.entrance import Entrance
from abacus.api.guarded_app import guarded_app
from abacus.api.http.wiring import http_limits
from abacus.api.offers import routes, taking
from abacus.api.offers.guesses import Guesses
from abacus.api.porter import DATABASE_WITHIN_S, porter
from abacus.api.server import bound
from abacus.engage.offers.offer_store import OfferStore, OfferVersions
from abacus.engage.offers.rehearsal_wiring import rehearsed_offers
from abacus.engage.offers.till_wiring import taken_offers
from abacus.engage.offers.wiring import asked_offers
from abacus.intake.partners.requests.journal import RequestJournal
from abacus.ledger.store.read import STANDING
from abacus.platform.health import Health
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool
from abacus.platform.rooms import Rooms
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
_READING: Final = 4  # connections


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
        lean=taking.LEAN,
    )


async def offers(wiring: Wiring) -> Run:
    settings = wiring.settings
    listener = bound(settings.offers_host, settings.offers_port, "ABACUS_OFFERS_HOST and ABACUS_OFFERS_PORT")
    return Entrance(wiring.process_health, listener, http_limits(settings)).to(partial(_opened, wiring))


async def _opened(wiring: Wiring) -> ASGIApp:
    callers = await porter(wiring, "offers:")
    reading = await wiring.pool(size=_READING, settings=LOOKUPS_BY_KEY, keeps_nothing=True, within_s=DATABASE_WITHIN_S)
    caches = await wiring.caches(callers.pool)
    asked = await asked_offers(wiring, reading, STANDING, caches)
    taken = await taken_offers(wiring, asked)
    guesses = Guesses(callers.limiter)

    def rehearsing(pool: Pool) -> Rooms:
        offers = rehearsed_offers(
            wiring,
            pool,
            asked.qualifier,
            taken.codes,
            OfferVersions(OfferStore(reading)).of,
            live_pool=reading,
            standing=STANDING,
            caches=caches,
        )
        return Rooms(offers.qualifier, offers.till, offers.codes, guesses)

    live = callers.access(Rooms(asked.qualifier, taken.till, taken.codes, guesses))
    app = offer_app(await callers.with_sandbox(live, rehearsing), wiring.process_health, callers.journal)
    wiring.health.ready()
    return app
