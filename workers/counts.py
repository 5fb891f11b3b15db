"""Serves lookups of counters, with the probes of its process, on ABACUS_COUNTS_HOST:ABACUS_COUNTS_PORT."""

import asyncio
import contextlib
from functools import partial
from typing import Final

from starlette.types import ASGIApp

from abacus.api.backends import CountBackends
from abacus.api.count_app import count_app
from abacus.api.entrance import Entrance
from abacus.api.server import bound
from abacus.bootstrap import Run, Service, Wiring
from abacus.configuration import http_limits
from abacus.core.errors import Unavailable
from abacus.intake.partners.directory import Directory
from abacus.intake.partners.requests.journal import RequestJournal
from abacus.intake.partners.requests.store import RequestStore
from abacus.intake.partners.signing_secrets import SigningSecrets
from abacus.intake.partners.store import PartnerStore
from abacus.people.directory import PeopleDirectory
from abacus.people.store.people import PeopleStore
from abacus.platform.announcements import Announced
from abacus.platform.postgres import LOOKUPS_BY_KEY
from abacus.platform.rate_limits.limiter import RateLimiter
from abacus.platform.rate_limits.store import BucketStore
from abacus.signals.counters.reading.service import CountService

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
    clock = wiring.clock
    directory = Directory(PartnerStore(pool, clock), clock)
    people = PeopleDirectory(PeopleStore(pool, clock), clock)
    journal = RequestJournal(RequestStore(pool), clock)
    limiter = RateLimiter(BucketStore(pool), clock, apart="counts:")
    wiring.announcements.call(directory.wake, on=Announced.PARTNERS)
    for work in (
        directory.keep_fresh(),
        directory.keep_noting_use(),
        people.keep_fresh(),
        people.keep_noting_use(),
        limiter.keep_giving_back(),
        journal.keep_writing(),
    ):
        wiring.beside(work)
    wiring.at_the_end(partial(_note_use, directory, people))
    wiring.at_the_end(journal.write)
    store_pool = await wiring.pool(
        size=_AT_ONCE,
        settings=LOOKUPS_BY_KEY,
        keeps_nothing=True,
        within_s=wiring.settings.counts_timeout_seconds,
    )
    store, _ = await wiring.counter_store(store_pool)
    counting = await wiring.counting(pool, store, at_once=_AT_ONCE)
    wiring.at_the_end(counting.close)
    wiring.at_the_end(limiter.close)
    app = count_app(
        CountBackends(
            clock=clock,
            health=wiring.process_health,
            directory=directory,
            people=people,
            signing_secrets=SigningSecrets(wiring.secrets()),
            limiter=limiter,
            counting=counting,
        ),
        journal=journal,
    )
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


async def _note_use(directory: Directory, people: PeopleDirectory) -> None:
    with contextlib.suppress(Unavailable):
        await directory.note_use()
        await people.note_use()
