"""Serves the partner award API, with the probes of its process, on ABACUS_API_HOST:ABACUS_API_PORT."""

import asyncio
from functools import partial
from typing import Final

from starlette.types import ASGIApp

from abacus.api.app import api_app
from abacus.api.backends import Backends
from abacus.api.entrance import Entrance
from abacus.api.sandbox import Sandbox
from abacus.api.server import bound
from abacus.api.wiring import http_limits
from abacus.approving.executors import approving
from abacus.bootstrap import Service
from abacus.core.errors import Unavailable
from abacus.core.vouching import Producer
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.engage.notify.preferences import PreferenceStore
from abacus.engage.notify.renderer import rendering
from abacus.intake.partners.award_intake import AwardIntake
from abacus.intake.partners.members import MemberReader
from abacus.intake.partners.movement_batcher import MovementBatcher
from abacus.intake.partners.register import Register
from abacus.intake.partners.requests.journal import RequestJournal
from abacus.intake.partners.requests.store import RequestStore
from abacus.intake.partners.signing_secrets import SigningSecrets
from abacus.intake.partners.watch import Watch
from abacus.intake.partners.wiring import partner_directory
from abacus.ledger.store.holds import HoldReader
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.wiring import alone_of
from abacus.people.wiring import people_directory, terms_of
from abacus.platform.announcements import Announced
from abacus.platform.migrations import has_sandbox
from abacus.platform.patience import until_available
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, passing_failures
from abacus.platform.sandbox import SESSION
from abacus.platform.sqs.definition import AWARD, RETRY
from abacus.platform.sqs.queue import SqsQueue
from abacus.platform.wiring import Run, Wiring
from abacus.pricing.wiring import cards_in_use
from abacus.programs.tiers.store import MembershipStore
from abacus.signals.events.posting import EventDesk, Publish, without_broker
from abacus.signals.events.wiring import built_in_sources, sources_in_use

NEEDS: Final = frozenset({Service.DATABASE, Service.SQS})
USES: Final = frozenset({Service.KAFKA})  # where an address is set; without one no events are posted
_CONNECTIONS: Final = 8
_MOVING_CONNECTIONS: Final = 2
_SANDBOX_CONNECTIONS: Final = 2
DATABASE_WITHIN_S: Final = 5.0
QUEUE_WITHIN_S: Final = 5.0
BROKER_WITHIN_S: Final = 5.0
_PROBE_EVERY_S: Final = 1.0
_PROBE_WITHIN_S: Final = 2.0


async def wire(wiring: Wiring) -> Run:
    listener = bound(wiring.settings.api_host, wiring.settings.api_port, "ABACUS_API_HOST and ABACUS_API_PORT")
    entrance = Entrance(wiring.process_health)

    async def run(stop: asyncio.Event) -> None:
        await entrance.serve(_opened(wiring), listener, stop, http_limits(wiring.settings))

    return run


async def _opened(wiring: Wiring) -> ASGIApp:
    is_open = asyncio.Event()
    backends = await _backends(wiring, is_open)
    for part in (backends.events, backends.movement_batcher, backends.award_intake):
        wiring.at_the_end(part.close)
    journal = RequestJournal(RequestStore(await wiring.pool(size=1, within_s=DATABASE_WITHIN_S)), wiring.clock)
    wiring.at_the_end(journal.write)
    wiring.beside(journal.keep_writing())
    app = api_app(backends, wiring.settings.api_public_url, journal)
    is_open.set()
    return app


async def _backends(wiring: Wiring, is_open: asyncio.Event) -> Backends:
    # Reading finds everything by key too, also in tables that grow faster than their statistics.
    opened = partial(wiring.pool, settings=LOOKUPS_BY_KEY, keeps_nothing=True, within_s=DATABASE_WITHIN_S)
    pool, moving = await opened(size=_CONNECTIONS), await opened(size=_MOVING_CONNECTIONS)
    client = await wiring.sqs(within_s=QUEUE_WITHIN_S)
    queue = await wiring.queue(client, AWARD)
    retry_queue = await wiring.queue(client, RETRY)
    register = Register(pool, wiring.clock)
    directory, people = partner_directory(wiring, pool), people_directory(wiring, pool)
    movement_batcher = MovementBatcher(PostgresMoves(moving, wiring.clock), register)
    award_intake = AwardIntake(
        wiring.signed_by(Producer.API, queue), wiring.signed_by(Producer.API, retry_queue), register
    )
    limiter = wiring.limiter(pool)
    cards, sources = cards_in_use(wiring, pool), sources_in_use(wiring, pool)
    await until_available(cards.refresh, wiring.health)
    await until_available(sources.refresh, wiring.health)
    await until_available(directory.refresh, wiring.health)
    wiring.beside(award_intake.keep_books())
    wiring.beside(_watch_dependencies(wiring, pool, queue, is_open))
    secrets, sources_there = wiring.secrets(), built_in_sources(wiring.settings)
    alone = alone_of(wiring.settings)
    moves = approving(pool, wiring.clock, movement_batcher.move, alone, sources_there, terms=terms_of(wiring.settings))
    backends = Backends(
        clock=wiring.clock,
        cards=cards,
        tiers=MembershipStore(pool, wiring.clock),
        directory=directory,
        people=people,
        signing_secrets=SigningSecrets(secrets),
        award_intake=award_intake,
        register=register,
        watch=Watch(register),
        members=MemberReader(pool),
        ledger=LedgerReader(pool),
        preferences=PreferenceStore(pool, wiring.clock),
        events=EventDesk(sources, _publishing_events(wiring)),
        movement_batcher=movement_batcher,
        holds=HoldReader(pool),
        large_moves=moves,
        campaigns=CampaignDesk(pool, wiring.clock, sources_there, moves.approvals, await wiring.entered(rendering())),
        health=wiring.process_health,
        limiter=limiter,
    )
    if await until_available(partial(has_sandbox, pool), wiring.health):
        tables = {**LOOKUPS_BY_KEY, **SESSION}
        own = await wiring.pool(
            size=_SANDBOX_CONNECTIONS, settings=tables, keeps_nothing=True, within_s=DATABASE_WITHIN_S
        )
        sandbox = Sandbox(backends, directory, own, secrets, alone)
        await until_available(sandbox.refresh, wiring.health)
        wiring.announcements.call(sandbox.wake, on=Announced.PARTNERS)
        for work in sandbox.work():
            wiring.beside(work)
        wiring.at_the_end(sandbox.close)
        backends.sandbox = sandbox.backends
    return backends


def _publishing_events(wiring: Wiring) -> Publish:
    """The API needs a broker for events alone, and does without one."""
    if wiring.settings.kafka_bootstrap is None:
        return without_broker
    return partial(wiring.publisher(within_s=BROKER_WITHIN_S).publish, wiring.settings.events_topic)


async def _watch_dependencies(wiring: Wiring, pool: Pool, queue: SqsQueue, is_open: asyncio.Event) -> None:
    """Ready means that awards are accepted: this needs the queue, and does without the database for a while."""
    await is_open.wait()
    while True:
        try:
            async with asyncio.timeout(_PROBE_WITHIN_S):
                await queue.waiting()
        except (Unavailable, TimeoutError) as error:
            wiring.health.waiting(Unavailable("award queue", str(error) or "no answer in time"))
        else:
            wiring.health.ready()
        try:
            async with asyncio.timeout(_PROBE_WITHIN_S), passing_failures():
                await pool.fetchval("select 1")
        except (Unavailable, TimeoutError) as error:
            wiring.process_health.miss("database", str(error) or "no answer in time")
        else:
            wiring.process_health.regained("database")
        await asyncio.sleep(_PROBE_EVERY_S)
