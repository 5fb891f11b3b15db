"""How the API is put together, with its sandbox: the access of test keys, on tables of its own and without a queue.

The sandbox reads rate cards, the sources of events and the rights of partners from the live tables, and writes nothing
there; the front notes its requests beside the live ones. Its events are checked, and published nowhere.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

from starlette.types import ASGIApp

from abacus.api.app import api_app
from abacus.api.auth import TEST, Access
from abacus.api.entrance import Entrance
from abacus.api.http.wiring import http_limits
from abacus.api.server import bound
from abacus.approving.executors import approving
from abacus.approving.wiring import large_moves
from abacus.core.errors import Unavailable
from abacus.core.signature import Verifier
from abacus.engage.campaigns.grantors import Grantors
from abacus.engage.campaigns.wiring import campaign_desk
from abacus.engage.journeys.entry_desk import EntryDesk
from abacus.engage.journeys.wiring import journey_desk
from abacus.engage.notify.preferences import PreferenceStore
from abacus.engage.offers.desk import OfferDesk
from abacus.engage.rewards.desk import RewardDesk
from abacus.engage.rewards.redemption_desk import RedemptionDesk
from abacus.engage.rewards.wiring import redemption_desk, rehearsed_desk
from abacus.exchanges.desk import ProgrammeDesk
from abacus.exchanges.exchange_desk import ExchangeDesk
from abacus.exchanges.rehearsal_wiring import rehearsed_exchanges
from abacus.exchanges.wiring import exchange_desks
from abacus.intake.awarding.awarder import Awarder
from abacus.intake.awarding.door import Door
from abacus.intake.partners.award_intake import AwardIntake
from abacus.intake.partners.calculations import Calculations
from abacus.intake.partners.directory import Directory
from abacus.intake.partners.members import MemberReader
from abacus.intake.partners.movement_batcher import MovementBatcher
from abacus.intake.partners.register import Register
from abacus.intake.partners.sandbox import SandboxDirectory
from abacus.intake.partners.signing_secrets import SigningSecrets
from abacus.intake.partners.watch import Watch
from abacus.intake.partners.wiring import award_intake, kept_intake, partner_directory, request_journal
from abacus.ledger.store.counted_moves import CountedMovesBeside
from abacus.ledger.store.holds import HoldKeeper, HoldReader
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.wiring import alone_of
from abacus.oversight.redeemed.reader import RedeemedReader
from abacus.people.wiring import people_directory
from abacus.platform.migrations import has_sandbox
from abacus.platform.one_process import in_a_process
from abacus.platform.patience import until_available
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, ping
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.rooms import Rooms
from abacus.platform.sandbox import SESSION
from abacus.platform.sqs.port import Received, Unsent
from abacus.platform.sqs.queue import SqsQueue
from abacus.platform.wiring import Run, Wiring
from abacus.pricing.store.cards import CardReader
from abacus.pricing.wiring import cards_in_use
from abacus.programs.tiers.store import MembershipStore
from abacus.programs.tiers.tier_reader import TierReader
from abacus.signals.events.event_desk import EventDesk
from abacus.signals.events.wiring import event_desk
from abacus.signals.places.locating import locate_in_use
from abacus.signals.places.place_desk import PlaceDesk
from abacus.signals.places.position_desk import PositionDesk
from abacus.signals.places.region_desk import RegionDesk
from abacus.signals.places.wiring import position_desk

_NAME: Final = "sandbox"


class PostsAtOnce:
    """In place of the award queue: an award that is sent is posted by the time that this returns."""

    name = _NAME

    def __init__(self, awarder: Awarder) -> None:
        self._awarder = awarder

    async def send(self, bodies: Sequence[str], *, delay_s: int = 0) -> None:  # noqa: ARG002  # as a queue does
        for place, body in enumerate(bodies):
            try:
                await self._awarder.handle([Received(_NAME, _NAME, body, receives=1)])
            except Unavailable as error:
                raise Unsent(_NAME, error.detail, bodies[place:]) from error


class TakesNothing:
    """In place of the retry queue: while tiers cannot be read, nothing is computed."""

    name = _NAME

    async def send(self, bodies: Sequence[str], *, delay_s: int = 0) -> None:  # noqa: ARG002  # as a queue does
        raise Unsent(_NAME, "the tiers of members cannot be read now", bodies)


_CONNECTIONS: Final = 8
_MOVING_CONNECTIONS: Final = 2
_SANDBOX_CONNECTIONS: Final = 2
_PROBE_EVERY_S: Final = 1.0


class Patience(NamedTuple):
    """How long a request waits for each service."""

    database_s: float = 5.0
    queue_s: float = 5.0
    broker_s: float = 5.0


_USUAL: Final = Patience()


async def api(wiring: Wiring, patience: Patience = _USUAL) -> Run:
    settings = wiring.settings
    listener = bound(settings.api_host, settings.api_port, "ABACUS_API_HOST and ABACUS_API_PORT")
    return Entrance(wiring.process_health, listener, http_limits(settings)).to(partial(_opened, wiring, patience))


async def _opened(wiring: Wiring, patience: Patience) -> ASGIApp:
    is_open = asyncio.Event()
    access = await _access(wiring, patience, is_open)
    journal = request_journal(wiring, await wiring.pool(size=1, within_s=patience.database_s))
    app = api_app(access, wiring.process_health, wiring.settings.api_public_url, journal)
    is_open.set()
    return app


async def _access(wiring: Wiring, patience: Patience, is_open: asyncio.Event) -> Access:
    clock, health = wiring.clock, wiring.health
    # Reading finds everything by key too, also in tables that grow faster than their statistics.
    opened = partial(wiring.pool, keeps_nothing=True, within_s=patience.database_s)
    pool, moving = [await opened(size=each, settings=LOOKUPS_BY_KEY) for each in (_CONNECTIONS, _MOVING_CONNECTIONS)]
    register, cards = Register(pool, clock), cards_in_use(wiring, pool)
    directory, people = partner_directory(wiring, pool), people_directory(wiring, pool)
    await until_available(cards.refresh, health)
    await until_available(directory.refresh, health)
    counted = CountedMovesBeside(PostgresMoves(moving, clock))
    batcher = MovementBatcher(counted, register)
    wiring.at_the_end(batcher.close)
    redeeming = await redemption_desk(wiring, pool, counted, cards.book)
    exchanging = await exchange_desks(wiring, pool, counted, cards.book)
    intake, queue = await award_intake(wiring, await wiring.sqs(within_s=patience.queue_s), register)
    moves, locate = large_moves(wiring, pool, batcher.move), await locate_in_use(wiring, pool)
    events = await event_desk(wiring, pool, locate, within_s=patience.broker_s)
    positions = await position_desk(wiring, within_s=patience.broker_s)
    documents = OfferDesk(pool, clock, moves.approvals), RewardDesk(pool, clock, moves.approvals), Grantors(pool)
    programmes = ProgrammeDesk(pool, clock, moves.approvals, to_private=wiring.settings.webhooks_to_private)
    rendering = [await each(wiring, pool, moves.approvals) for each in (campaign_desk, journey_desk)]
    regions = RegionDesk(pool, clock, moves.approvals, apart=in_a_process)
    desks: list[object] = [
        *rendering,
        *documents,
        programmes,
        *exchanging,
        PlaceDesk(pool, clock),
        regions,
        cards,
        EntryDesk(pool, clock),
    ]
    access = Access(
        clock=clock,
        directory=directory,
        people=people,
        signing_secrets=SigningSecrets(wiring.secrets()),
        limiter=wiring.limiter(pool),
        rooms=Rooms(
            *_rooms(wiring, pool, cards, register), intake, events, positions, batcher, moves, redeeming, *desks
        ),
    )
    wiring.beside(_watch_dependencies(wiring, pool, queue, is_open))
    if not await until_available(partial(has_sandbox, pool), health):
        return access
    own = await opened(size=_SANDBOX_CONNECTIONS, settings={**LOOKUPS_BY_KEY, **SESSION})
    return replace(access, sandbox=await _sandbox(wiring, access, directory, cards, own, documents=pool))


async def _sandbox(
    wiring: Wiring, live: Access, live_directory: Directory, cards: CardReader, pool: Pool, *, documents: Pool
) -> Access:
    clock = wiring.clock
    register, moves, directory = Register(pool, clock), PostgresMoves(pool, clock), partner_directory(wiring, pool)
    # Its envelopes do not leave the process, so nobody signs them; and no campaign runs in a sandbox.
    door = Door(cards, clock, Verifier())
    awarder = Awarder(door, PostgresLedger(pool, clock), moves, QuarantineStore(pool, clock))
    batcher = MovementBatcher(moves, register)
    wiring.at_the_end(batcher.close)
    posting = PostsAtOnce(awarder)
    intake = kept_intake(wiring, AwardIntake(posting, TakesNothing(), register))
    wiring.beside(HoldKeeper(pool, moves, clock).keep_releasing())
    await until_available(directory.refresh, wiring.health)
    large = approving(pool, clock, batcher.move, alone_of(wiring.settings), ())  # no campaign runs in a sandbox
    events, positions = live.rooms[EventDesk].rehearsing(), live.rooms[PositionDesk].rehearsing()
    redeeming = rehearsed_desk(wiring, live.rooms[RedemptionDesk], pool, moves, cards.book)
    exchanging = rehearsed_exchanges(
        wiring, pool, moves, cards.book, posting, live=live.rooms[ExchangeDesk], documents=documents
    )
    entering = live.rooms[EntryDesk].rehearsing(pool)
    return Access(
        clock=clock,
        directory=SandboxDirectory(directory, live_directory),
        people=live.people,
        signing_secrets=SigningSecrets(wiring.secrets()),
        limiter=wiring.limiter(pool),
        mode=TEST,
        rooms=Rooms(
            *_rooms(wiring, pool, cards, register),
            intake,
            events,
            positions,
            batcher,
            large,
            redeeming,
            entering,
            *exchanging,
        ),
    )


def _rooms(wiring: Wiring, pool: Pool, cards: CardReader, register: Register) -> list[object]:
    """The rooms that ask a database and nothing else, in the ledger and in the sandbox."""
    return [
        Calculations(cards),
        MembershipStore(pool, wiring.clock),
        TierReader(pool),
        register,
        Watch(register),
        MemberReader(pool),
        LedgerReader(pool),
        RedeemedReader(pool),
        PreferenceStore(pool, wiring.clock),
        HoldReader(pool),
    ]


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
