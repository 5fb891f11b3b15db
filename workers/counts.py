"""Serves lookups of counters, with the probes of its process, on ABACUS_COUNTS_HOST:ABACUS_COUNTS_PORT."""

import asyncio
from typing import Final

from starlette.types import ASGIApp

from abacus.api.auth import Access
from abacus.api.count_app import count_app
from abacus.api.entrance import Entrance
from abacus.api.server import bound
from abacus.api.wiring import http_limits
from abacus.bootstrap import Service
from abacus.intake.partners.signing_secrets import SigningSecrets
from abacus.intake.partners.wiring import partner_directory, request_journal
from abacus.people.wiring import people_directory
from abacus.platform.postgres import LOOKUPS_BY_KEY
from abacus.platform.rooms import Rooms
from abacus.platform.wiring import Run, Wiring
from abacus.signals.counters.reading.service import CountService
from abacus.signals.counters.wiring import counter_store, counting_service

NEEDS: Final = frozenset({Service.DATABASE})
DATABASE_WITHIN_S: Final = 5.0
_AT_ONCE: Final = 2  # rounds of reading
_CONNECTIONS: Final = 2  # for all else
_PROBE_EVERY_S: Final = 1.0


async def wire(wiring: Wiring) -> Run:
    settings = wiring.settings
    listener = bound(settings.counts_host, settings.counts_port, "ABACUS_COUNTS_HOST and ABACUS_COUNTS_PORT")
    entrance = Entrance(wiring.process_health)

    async def run(stop: asyncio.Event) -> None:
        await entrance.serve(_opened(wiring), listener, stop, http_limits(settings))

    return run


async def _opened(wiring: Wiring) -> ASGIApp:
    # Callers are let in over a pool of their own: it has room while the store of counters is slow.
    pool = await wiring.pool(size=_CONNECTIONS, settings=LOOKUPS_BY_KEY, keeps_nothing=True, within_s=DATABASE_WITHIN_S)
    directory, people = partner_directory(wiring, pool), people_directory(wiring, pool)
    limiter = wiring.limiter(pool, apart="counts:")
    journal = request_journal(wiring, pool)
    store_pool = await wiring.pool(
        size=_AT_ONCE,
        settings=LOOKUPS_BY_KEY,
        keeps_nothing=True,
        within_s=wiring.settings.counts_timeout_seconds,
    )
    store, _ = await counter_store(wiring, store_pool)
    counting = await counting_service(wiring, pool, store, at_once=_AT_ONCE)
    wiring.at_the_end(counting.close)
    access = Access(
        clock=wiring.clock,
        directory=directory,
        people=people,
        signing_secrets=SigningSecrets(wiring.secrets()),
        limiter=limiter,
        rooms=Rooms(counting),
    )
    app = count_app(access, wiring.process_health, journal=journal)
    wiring.beside(_watch(wiring, counting))
    return app


async def _watch(wiring: Wiring, counting: CountService) -> None:
    """Ready means that the store answers, or some part of it."""
    while True:
        why = await counting.why_away()
        if why is None:
            wiring.health.ready()
        else:
            wiring.health.waiting(why)
        await asyncio.sleep(_PROBE_EVERY_S)
