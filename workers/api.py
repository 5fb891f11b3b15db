"""Serves the partner award API, with the probes of its process, on ABACUS_API_HOST:ABACUS_API_PORT."""

import asyncio
from dataclasses import replace
from functools import partial
from typing import Final

from starlette.types import ASGIApp

from abacus.api.app import api_app
from abacus.api.auth import Access
from abacus.api.entrance import Entrance
from abacus.api.sandbox import Sandbox
from abacus.api.server import bound
from abacus.api.wiring import http_limits
from abacus.approving.wiring import large_moves
from abacus.bootstrap import Service
from abacus.core.errors import Unavailable
from abacus.engage.campaigns.wiring import campaign_desk
from abacus.engage.notify.preferences import PreferenceStore
from abacus.intake.partners.calculations import Calculations
from abacus.intake.partners.directory import Directory
from abacus.intake.partners.members import MemberReader
from abacus.intake.partners.movement_batcher import MovementBatcher
from abacus.intake.partners.register import Register
from abacus.intake.partners.signing_secrets import SigningSecrets
from abacus.intake.partners.watch import Watch
from abacus.intake.partners.wiring import award_intake, partner_directory, request_journal
from abacus.ledger.store.counted_moves import CountedMoves
from abacus.ledger.store.holds import HoldReader
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.wiring import alone_of
from abacus.people.wiring import people_directory
from abacus.platform.announcements import Announced
from abacus.platform.migrations import has_sandbox
from abacus.platform.patience import until_available
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, ping
from abacus.platform.rooms import Rooms
from abacus.platform.sandbox import SESSION
from abacus.platform.sqs.queue import SqsQueue
from abacus.platform.wiring import Run, Wiring
from abacus.pricing.store.reader import CardReader
from abacus.pricing.wiring import cards_in_use
from abacus.programs.tiers.store import MembershipStore
from abacus.signals.events.wiring import event_desk

NEEDS: Final = frozenset({Service.DATABASE, Service.SQS})
USES: Final = frozenset({Service.KAFKA})  # where an address is set; without one no events are posted
_CONNECTIONS: Final = 8
_MOVING_CONNECTIONS: Final = 2
_SANDBOX_CONNECTIONS: Final = 2
DATABASE_WITHIN_S: Final = 5.0
QUEUE_WITHIN_S: Final = 5.0
BROKER_WITHIN_S: Final = 5.0
_PROBE_EVERY_S: Final = 1.0


async def wire(wiring: Wiring) -> Run:
    listener = bound(wiring.settings.api_host, wiring.settings.api_port, "ABACUS_API_HOST and ABACUS_API_PORT")
    entrance = Entrance(wiring.process_health)

    async def run(stop: asyncio.Event) -> None:
        await entrance.serve(_opened(wiring), listener, stop, http_limits(wiring.settings))

    return run


async def _opened(wiring: Wiring) -> ASGIApp:
    is_open = asyncio.Event()
    access = await _access(wiring, is_open)
    journal = request_journal(wiring, await wiring.pool(size=1, within_s=DATABASE_WITHIN_S))
    app = api_app(access, wiring.process_health, wiring.settings.api_public_url, journal)
    is_open.set()
    return app


async def _access(wiring: Wiring, is_open: asyncio.Event) -> Access:
    clock, health = wiring.clock, wiring.health
    # Reading finds everything by key too, also in tables that grow faster than their statistics.
    opened = partial(wiring.pool, settings=LOOKUPS_BY_KEY, keeps_nothing=True, within_s=DATABASE_WITHIN_S)
    pool, moving = await opened(size=_CONNECTIONS), await opened(size=_MOVING_CONNECTIONS)
    register, cards = Register(pool, clock), cards_in_use(wiring, pool)
    directory, people = partner_directory(wiring, pool), people_directory(wiring, pool)
    await until_available(cards.refresh, health)
    await until_available(directory.refresh, health)
    batcher = MovementBatcher(CountedMoves(PostgresMoves(moving, clock)), register)
    wiring.at_the_end(batcher.close)
    intake, queue = await award_intake(wiring, await wiring.sqs(within_s=QUEUE_WITHIN_S), register)
    moves = large_moves(wiring, pool, batcher.move)
    access = Access(
        clock=clock,
        directory=directory,
        people=people,
        signing_secrets=SigningSecrets(wiring.secrets()),
        limiter=wiring.limiter(pool),
        rooms=Rooms(
            Calculations(cards),
            MembershipStore(pool, clock),
            intake,
            register,
            Watch(register),
            MemberReader(pool),
            LedgerReader(pool),
            PreferenceStore(pool, clock),
            await event_desk(wiring, pool, within_s=BROKER_WITHIN_S),
            batcher,
            HoldReader(pool),
            moves,
            await campaign_desk(wiring, pool, moves.approvals),
        ),
    )
    wiring.beside(_watch_dependencies(wiring, pool, queue, is_open))
    if not await until_available(partial(has_sandbox, pool), health):
        return access
    own = await wiring.pool(
        size=_SANDBOX_CONNECTIONS,
        settings={**LOOKUPS_BY_KEY, **SESSION},
        keeps_nothing=True,
        within_s=DATABASE_WITHIN_S,
    )
    return replace(access, sandbox=await _sandbox(wiring, access, directory, cards, own))


async def _sandbox(wiring: Wiring, live: Access, directory: Directory, cards: CardReader, pool: Pool) -> Access:
    sandbox = Sandbox(live, directory, cards, pool, secrets=wiring.secrets(), alone=alone_of(wiring.settings))
    await until_available(sandbox.refresh, wiring.health)
    wiring.announcements.call(sandbox.wake, on=Announced.PARTNERS)
    for work in sandbox.work():
        wiring.beside(work)
    wiring.at_the_end(sandbox.close)
    return sandbox.access


async def _watch_dependencies(wiring: Wiring, pool: Pool, queue: SqsQueue, is_open: asyncio.Event) -> None:
    """Ready means that awards are accepted: this needs the queue, and does without the database for a while."""
    await is_open.wait()
    while True:
        try:
            await queue.ping()
        except Unavailable as error:
            wiring.health.waiting(Unavailable("award queue", error.detail))
        else:
            wiring.health.ready()
        try:
            await ping(pool)
        except Unavailable as error:
            wiring.process_health.miss("database", str(error))
        else:
            wiring.process_health.regained("database")
        await asyncio.sleep(_PROBE_EVERY_S)
