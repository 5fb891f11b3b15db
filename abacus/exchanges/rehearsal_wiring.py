"""How exchanges of the sandbox are put together: the same desks on its tables, and what carries them on beside."""

from collections.abc import Callable, Collection
from typing import NamedTuple

from abacus.engage.rewards.rehearsal import rehearsed_facts
from abacus.exchanges.decide.rehearsed import CODE
from abacus.exchanges.exchange_desk import ExchangeDesk
from abacus.exchanges.exchanger import Exchanger
from abacus.exchanges.hearing import Hearing
from abacus.exchanges.inbound_desk import InboundDesk
from abacus.exchanges.inbound_rows import InboundRows
from abacus.exchanges.inbound_statements import InboundStatements
from abacus.exchanges.incoming import Awards, Incoming
from abacus.exchanges.link_desk import LinkDesk
from abacus.exchanges.link_store import LinkStore
from abacus.exchanges.metrics import NOWHERE
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.exchanges.programme_versions import ProgrammeVersions
from abacus.exchanges.rehearsal import (
    InventedTakers,
    PlayedLines,
    PlayedPartner,
    RehearsedProgrammes,
    ReviewsAtOnce,
    TellsNobody,
    keep_carrying,
)
from abacus.exchanges.settler import MovesBeside, Settler
from abacus.exchanges.takers import LinkedTakers
from abacus.exchanges.wiring import exchange_desk
from abacus.intake.partners.members import MemberReader
from abacus.ledger.store.read import LedgerReader
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Pool
from abacus.platform.wiring import Wiring
from abacus.pricing.decide.book import CardBook


class RehearsedExchanges(NamedTuple):
    """The doors for test keys."""

    exchanges: ExchangeDesk
    inbound: InboundDesk
    links: LinkDesk
    statements: InboundStatements


def rehearsed_exchanges(
    wiring: Wiring,
    pool: Pool,
    moves: MovesBeside,
    book: Callable[[], CardBook],
    awards: Awards,
    *,
    live: ExchangeDesk,
    documents: Pool,
) -> RehearsedExchanges:
    """`pool` is of the sandbox, `documents` where programmes are published. What they begin is gone on with beside."""
    clock, versions = wiring.clock, ProgrammeVersions(ProgrammeStore(documents))
    programmes = RehearsedProgrammes(live.programmes, versions)
    store = LinkStore(pool, wiring.secrets(), documents=documents)
    partner = PlayedPartner(pool, store.accounts, clock)
    links = LinkDesk(store, clock, programmes.in_force, lambda _: partner, TellsNobody(), new_code=lambda: CODE)
    settler = Settler(moves, programmes.of, book, clock, counting=NOWHERE)
    hearing = Hearing(pool, settler, programmes.of, clock, counting=NOWHERE)
    desk = exchange_desk(
        pool,
        clock,
        moves,
        hearing,
        links,
        programmes=programmes.in_force,
        version_of=programmes.of,
        facts=rehearsed_facts(),
        counting=NOWHERE,
    )
    wiring.at_the_end(desk.close)
    rows = InboundRows(pool, programmes.of, clock, counting=NOWHERE)
    takers = InventedTakers(LinkedTakers(links, desk.misfit, MemberReader(pool), clock))
    ledger = LedgerReader(pool)

    async def posted(keys: Collection[str]) -> Collection[str]:
        return (await ledger.claims_of(keys)).keys()

    exchanger = Exchanger(
        pool,
        hearing,
        PlayedLines(partner, programmes),
        clock,
        accounts_of=links.accounts_of,
        version_of=programmes.of,
        reviews=ReviewsAtOnce(),
        incoming=Incoming(rows, awards, posted, programmes.of, book, clock=clock),
        health=WorkerHealth("exchanges of the sandbox"),
        counting=NOWHERE,
    )
    wiring.beside(keep_carrying(exchanger))
    return RehearsedExchanges(
        desk,
        InboundDesk(pool, clock, rows, takers, programmes.in_force),
        links,
        InboundStatements(pool, clock, versions.last),
    )
