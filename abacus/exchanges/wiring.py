"""How exchanges are put together: their desks, and what carries them on."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from abacus.core.clock import Clock
from abacus.core.signature import Producer
from abacus.engage.asking.facts import AskingMember, asking_facts
from abacus.engage.downstreams.wiring import outside
from abacus.engage.notify.notices import Notices
from abacus.engage.offers.facts import Countable
from abacus.exchanges.books.desk import BooksDesk
from abacus.exchanges.books.keeper import BooksKeeper
from abacus.exchanges.callbacks import Callbacks
from abacus.exchanges.carriers.files.file_keeper import FileKeeper
from abacus.exchanges.carriers.files.file_rows import FileRows
from abacus.exchanges.client_secrets import ClientSecrets
from abacus.exchanges.converter import Converter
from abacus.exchanges.decide.programmes import Programmes
from abacus.exchanges.decide.recalled import Owner
from abacus.exchanges.directory import ProgrammeDirectory
from abacus.exchanges.exchange_deeds import ExchangeDeeds
from abacus.exchanges.exchange_desk import ExchangeDesk, closed_quotes
from abacus.exchanges.exchange_rows import ended_links
from abacus.exchanges.exchanger import Exchanger
from abacus.exchanges.hearing import Hearing
from abacus.exchanges.inbound_desk import InboundDesk
from abacus.exchanges.inbound_rows import InboundRows
from abacus.exchanges.inbound_statements import InboundStatements
from abacus.exchanges.incoming import Incoming
from abacus.exchanges.link_desk import LinkDesk
from abacus.exchanges.link_store import LinkStore
from abacus.exchanges.metrics import IN_METRICS, Counting
from abacus.exchanges.partner_lines import PartnerLines
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.exchanges.programme_versions import ProgrammeVersions
from abacus.exchanges.programmes_at_work import ProgrammesAtWork
from abacus.exchanges.recovery import Recovery
from abacus.exchanges.reviews import ApprovedReviews
from abacus.exchanges.settler import MovesBeside, Settler, VersionOf
from abacus.exchanges.sign_ins import SignIns
from abacus.exchanges.status import measure
from abacus.exchanges.takers import LinkedTakers
from abacus.exchanges.teller import teller
from abacus.exchanges.timeline import Timelines
from abacus.intake.partners.members import MemberReader
from abacus.intake.partners.webhooks.secrets import WebhookSecrets
from abacus.intake.partners.webhooks.store import WebhookStore
from abacus.people.store.approvals import Approvals
from abacus.platform.following.leader import Leader
from abacus.platform.following.together import together
from abacus.platform.health import sub_workers_of
from abacus.platform.measuring import keep_measuring
from abacus.platform.patience import until_available
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, passing_failures
from abacus.platform.sqs.definition import AWARD
from abacus.platform.wiring import Run, Wiring
from abacus.pricing.decide.book import CardBook
from abacus.pricing.wiring import cards_in_use
from abacus.signals.facts.types import FactRegistry
from abacus.signals.facts.wiring import present_counter_facts
from abacus.signals.segments.wiring import segments_in_use

_CONNECTIONS: Final = 6
_MOVING: Final = 4
_IDLE_S: Final = 2.0
_BOOKS_IDLE_S: Final = 15.0  # statements and bills come once a day and a month
_LEADING: Final = 4  # one each
_PARTNERS_KEPT: Final = timedelta(seconds=5)
_FILES: Final = "exchange-files"  # leases
_BOOKS: Final = "exchange-books"
_RECOVERY: Final = "exchange-recovery"

MovesOf = Callable[[Pool, Clock], MovesBeside]
# The keys of awards, among these, that the ledger has.
PostedOf = Callable[[Pool], Callable[[Collection[str]], Awaitable[Collection[str]]]]


class Exchanging(NamedTuple):
    """What all processes of exchanges have."""

    directory: ProgrammeDirectory
    versions: ProgrammeVersions
    lines: PartnerLines
    links: LinkDesk
    hearing: Hearing

    def programmes(self) -> Programmes:
        return self.directory.value()


class ExchangeDesks(NamedTuple):
    """The doors of the API."""

    exchanges: ExchangeDesk
    inbound: InboundDesk
    links: LinkDesk
    callbacks: Callbacks
    statements: InboundStatements


async def exchange_desks(wiring: Wiring, pool: Pool, moves: MovesBeside, book: Callable[[], CardBook]) -> ExchangeDesks:
    """The exchanger goes on with what they begin."""
    at, clock = await _exchanging(wiring, pool, moves, book), wiring.clock
    secrets = WebhookSecrets(WebhookStore(pool, clock, wiring.secrets()))
    desk = exchange_desk(
        pool,
        clock,
        moves,
        at.hearing,
        at.links,
        programmes=at.programmes,
        version_of=at.versions.of,
        facts=await _facts(wiring, pool, at.directory),
    )
    wiring.at_the_end(desk.close)
    rows = InboundRows(pool, at.versions.of, clock)
    takers = LinkedTakers(at.links, desk.misfit, MemberReader(pool), clock)
    inbound = InboundDesk(pool, clock, rows, takers, at.programmes)
    callbacks = Callbacks(_CallbackSecrets(ProgrammeStore(pool), secrets, clock).of, at.hearing, clock)
    return ExchangeDesks(desk, inbound, at.links, callbacks, InboundStatements(pool, clock, at.versions.last))


def exchange_desk(
    pool: Pool,
    clock: Clock,
    moves: MovesBeside,
    hearing: Hearing,
    links: LinkDesk,
    *,
    programmes: Callable[[], Programmes],
    version_of: VersionOf,
    facts: FactRegistry[AskingMember],
    counting: Counting = IN_METRICS,
) -> ExchangeDesk:
    """For members who have linked an account. `close` it at the end."""
    closed = partial(closed_quotes, programmes, partial(_ended, pool, clock))
    return ExchangeDesk(
        pool,
        clock,
        Converter(pool, moves, version_of, closed, clock, counting=counting),
        hearing,
        programmes=programmes,
        version_of=version_of,
        link_of=partial(_link_of, links),
        facts=facts,
    )


def exchange_deeds(pool: Pool, clock: Clock, moves: MovesBeside, book: Callable[[], CardBook]) -> ExchangeDeeds:
    """For people, who look, cancel, undo and settle: nothing is converted by it."""
    versions = ProgrammeVersions(ProgrammeStore(pool))
    return ExchangeDeeds(
        pool, clock, Hearing(pool, Settler(moves, versions.of, book, clock), versions.of, clock), versions.of
    )


async def exchanger(wiring: Wiring, moves_of: MovesOf, posted_of: PostedOf) -> Run:
    """Carries exchanges on, writes files and reads their answers, keeps the books, and tells of each turn."""
    clock = wiring.clock
    pool = await wiring.pool(size=_CONNECTIONS, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    moving = await wiring.pool(size=_MOVING, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    await wiring.slice_map(moving)
    cards = cards_in_use(wiring, pool)
    await until_available(cards.refresh, wiring.health)
    at = await _exchanging(wiring, pool, moves_of(moving, clock), cards.book)
    queue = wiring.signed_by(Producer.EXCHANGER, await wiring.queue(await wiring.sqs(), AWARD))
    rows = InboundRows(pool, at.versions.of, clock)
    going, filing, keeping, recovering, telling = sub_workers_of(wiring.health, 5)
    carrying = Exchanger(
        pool,
        at.hearing,
        at.lines,
        clock,
        accounts_of=at.links.accounts_of,
        version_of=at.versions.of,
        reviews=ApprovedReviews(Approvals(pool, clock, {})),
        incoming=Incoming(rows, queue, posted_of(pool), at.versions.of, cards.book, clock=clock),
        health=going,
    )

    programmes = ProgrammesAtWork(pool, at.programmes, at.versions, clock)
    files = FileKeeper(
        FileRows(pool), programmes, at.links.accounts_of, at.hearing.tell, clock, is_stopped=at.lines.is_stopped
    )
    desk = BooksDesk(pool, clock)
    books = BooksKeeper(desk, programmes, at.lines.port, clock)
    recovery = Recovery(
        pool,
        moves_of(moving, clock),
        at.hearing,
        desk,
        clock,
        programmes=programmes,
        version_of=at.versions.find,
        port_of=at.lines.port,
        owner_of=partial(_owner_of, at.links),
    )
    leading = await wiring.pool(size=_LEADING)
    wiring.beside(keep_measuring("exchanges", partial(measure, pool, clock)))
    return together(
        carrying.run,
        Leader(leading, _FILES, files.step, filing, idle_s=_IDLE_S).run,
        Leader(leading, _BOOKS, books.step, keeping, idle_s=_BOOKS_IDLE_S).run,
        Leader(leading, _RECOVERY, recovery.step, recovering, idle_s=_IDLE_S).run,
        teller(pool, clock, telling, at.versions.of, Notices(pool, clock), leading=leading).run,
    )


async def _exchanging(wiring: Wiring, pool: Pool, moves: MovesBeside, book: Callable[[], CardBook]) -> Exchanging:
    clock, settings = wiring.clock, wiring.settings
    directory = ProgrammeDirectory(pool, clock)
    wiring.keep(directory, on=directory.tables)
    await until_available(directory.refresh, wiring.health)
    versions = ProgrammeVersions(ProgrammeStore(pool))
    lines = PartnerLines(
        directory.value,
        versions,
        WebhookSecrets(WebhookStore(pool, clock, wiring.secrets())).of,
        FileRows(pool),
        clock,
        timelines=Timelines(pool, clock),
        to_private=settings.webhooks_to_private,
    )
    wiring.at_the_end(lines.close)
    sign_ins = SignIns(ClientSecrets(pool, wiring.secrets()).of, to_private=settings.webhooks_to_private)
    wiring.at_the_end(sign_ins.close)
    store = LinkStore(pool, wiring.secrets())
    links = LinkDesk(store, clock, directory.value, lines.port, Notices(pool, clock), sign_in_of=sign_ins.port)
    settler = Settler(moves, versions.of, book, clock)
    return Exchanging(directory, versions, lines, links, Hearing(pool, settler, versions.of, clock))


async def _facts(wiring: Wiring, pool: Pool, directory: ProgrammeDirectory) -> FactRegistry[AskingMember]:
    counters = await present_counter_facts(wiring, pool, lambda: Countable(directory.around().counters))
    reached = await outside(wiring, pool, webhooks_at_once=0)
    return asking_facts(segments=segments_in_use(wiring, pool).look, counters=counters, services=reached.services.ask)


class _CallbackSecrets:
    """The secrets of partners, by their programmes. Anybody may ask, so a name costs no reading of its own."""

    def __init__(self, store: ProgrammeStore, secrets: WebhookSecrets, clock: Clock) -> None:
        self._store = store
        self._secrets = secrets
        self._clock = clock
        self._partners: Mapping[str, str] = {}
        self._read_again_at: datetime | None = None

    async def of(self, programme: str) -> Sequence[str]:
        """None for a programme that nobody knows."""
        now = self._clock.now()
        if self._read_again_at is None or now >= self._read_again_at:
            self._partners = await self._store.partners()
            self._read_again_at = now + _PARTNERS_KEPT
        partner = self._partners.get(programme)
        return () if partner is None else await self._secrets.of(partner)


async def _link_of(links: LinkDesk, programme: str, member_id: str) -> UUID:
    return (await links.usable(member_id, programme)).link_id


async def _ended(pool: Pool, clock: Clock, link_ids: Sequence[UUID]) -> Mapping[UUID, str]:
    async with passing_failures():
        ended = await ended_links(pool, link_ids, clock.now())
    return dict.fromkeys(ended, "the link to the partner has ended")


async def _owner_of(links: LinkDesk, programme: str, number: str) -> Owner | None:
    link = await links.of_number(programme, number)
    return None if link is None or link.verified_at is None else Owner(link.link_id, link.member_id, link.verified_at)
