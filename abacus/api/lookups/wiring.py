"""How lookups of counters are served: the application, who is let in, and the store that is asked."""

import asyncio
from functools import partial
from typing import Final

from starlette.types import ASGIApp

from abacus.api.auth import Access
from abacus.api.entrance import Entrance
from abacus.api.guarded_app import guarded_app
from abacus.api.http.wiring import http_limits
from abacus.api.lookups import routes, series_routes
from abacus.api.porter import porter
from abacus.api.server import bound
from abacus.engage.series import house_sums
from abacus.intake.partners.requests.journal import RequestJournal
from abacus.platform.health import Health
from abacus.platform.postgres import LOOKUPS_BY_KEY
from abacus.platform.rooms import Rooms
from abacus.platform.wiring import Run, Wiring
from abacus.signals.counters.reading.service import CountService
from abacus.signals.counters.wiring import chart_service, counter_store, counting_service

_DESCRIPTION: Final = """
How often did it happen? Counters answer for any key, in any range of time, up to a hundred at once; as one count, or
slot by slot for a chart.

A time is a text of RFC 3339 with an offset, or a number of seconds since 1970. Every error is a document like those of
`application/problem+json`, with a stable `type`.
"""
_KEYS: Final = "The key of a partner that may read counters, `abk_live_…`; or a person's token, `abp_…`"


def count_app(access: Access, health: Health, journal: RequestJournal | None = None) -> ASGIApp:
    return guarded_app(
        "Abacus counts",
        _DESCRIPTION,
        [routes.router, series_routes.router],
        access,
        health,
        keys=_KEYS,
        journal=journal,
    )


_AT_ONCE: Final = 2  # rounds of reading
_PROBE_EVERY_S: Final = 1.0


async def lookups(wiring: Wiring) -> Run:
    settings = wiring.settings
    listener = bound(settings.counts_host, settings.counts_port, "ABACUS_COUNTS_HOST and ABACUS_COUNTS_PORT")
    return Entrance(wiring.process_health, listener, http_limits(settings)).to(partial(_opened, wiring))


async def _opened(wiring: Wiring) -> ASGIApp:
    callers = await porter(wiring, "counts:")
    store_pool = await wiring.pool(
        size=_AT_ONCE,
        settings=LOOKUPS_BY_KEY,
        keeps_nothing=True,
        within_s=wiring.settings.counts_timeout_seconds,
    )
    store, _ = await counter_store(wiring, store_pool)
    counting = await counting_service(wiring, callers.pool, store, at_once=_AT_ONCE)
    wiring.at_the_end(counting.close)
    access = callers.access(Rooms(counting, await chart_service(wiring, counting, store, house_sums)))
    wiring.beside(_watch(wiring, counting))
    return count_app(access, wiring.process_health, callers.journal)


async def _watch(wiring: Wiring, counting: CountService) -> None:
    """Ready means that the store answers, or some part of it."""
    while True:
        why = await counting.why_away()
        if why is None:
            wiring.health.ready()
        else:
            wiring.health.waiting(why)
        await asyncio.sleep(_PROBE_EVERY_S)
