"""A place where points are exchanged: desk and exchanger on a real ledger, and a partner that is given."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

from abacus.core.clock import Clock
from abacus.core.sources import Agent, partner_source
from abacus.engage.asking.standings import Standings
from abacus.engage.asking.types import Standing
from abacus.exchanges.converter import Conversion, Converter
from abacus.exchanges.decide.exchange import Exchange
from abacus.exchanges.decide.position import EntryKind
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.programmes import InForce, Programmes
from abacus.exchanges.decide.publications import ExchangePublications
from abacus.exchanges.decide.quote import Wish
from abacus.exchanges.exchange_desk import ExchangeDesk, closed_quotes
from abacus.exchanges.exchange_rows import Step
from abacus.exchanges.exchanger import MOST, AccountsOf, Exchanger, Incoming, Reached, Reviews
from abacus.exchanges.hearing import Hearing
from abacus.exchanges.position_rows import EntryDraft, entries_behind, locked_standings, write_entries
from abacus.exchanges.settler import MovesBeside, Settler
from abacus.exchanges.types import Account, TransferPort
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.read import LedgerReader
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.signals.facts.types import FactRegistry
from tests.support.exchanged import skymiles
from tests.support.fixed_clock import FixedClock
from tests.support.memory_partner import MemoryPartner
from tests.support.rewards import CARDS

SHOP = Agent("shop", partner_source("shop"))
LINK = UUID(int=2)
PREFUND = Decimal(1000)


class ExchangeHouse:
    """With a clock that is set. What its programmes are may be changed between steps."""

    def __init__(
        self,
        pool: Pool,
        programme: Programme | None = None,
        *,
        partner: TransferPort | None = None,
        moves: Callable[[Clock], MovesBeside] | None = None,
        clock: FixedClock | None = None,
        accounts_of: AccountsOf | None = None,
    ) -> None:
        self.pool = pool
        self.clock = clock or FixedClock(datetime.now(UTC))
        self.partner = partner or MemoryPartner()
        self.room = MOST
        self.is_restored = False
        self.is_paused = False
        self.incoming: Incoming | None = None
        self.reviews: Reviews | None = None
        self.ended: dict[UUID, str] = {}
        self.programme = programme or skymiles()
        self._book = CardBook(list(CARDS.values()))
        moving = PostgresMoves(pool, self.clock) if moves is None else moves(self.clock)
        self.settler = Settler(moving, self.version_of, lambda: self._book, self.clock)
        self.hearing = Hearing(pool, self.settler, self.version_of, self.clock)
        closed = partial(closed_quotes, self.programmes, self._ended)
        self.converter = Converter(pool, moving, self.version_of, closed, self.clock)
        self.desk = ExchangeDesk(
            pool,
            self.clock,
            self.converter,
            self.hearing,
            programmes=self.programmes,
            version_of=self.version_of,
            link_of=self._link_of,
            facts=FactRegistry(),
        )
        self.accounts_of = accounts_of or self._accounts_of
        self.exchanger = Exchanger(
            pool,
            self.hearing,
            self,
            self.clock,
            accounts_of=self.accounts_of,
            version_of=self.version_of,
            reviews=self,
            incoming=self,
            health=WorkerHealth("exchanger"),
        )

    def programmes(self) -> Programmes:
        around = ExchangePublications(self.clock.now())
        return Programmes([InForce(self.programme, around)])

    async def version_of(self, name: str, version: int) -> Programme:
        assert (name, version) == (self.programme.name, self.programme.version)
        return self.programme

    async def reach(self, _: str) -> Reached | None:
        return Reached(self.partner, lambda: self.room)

    def may_begin(self, exchange: Exchange, now: datetime) -> bool:
        return not self.is_paused and exchange.programme in self.programmes().by_name and now < self.programme.ends_at

    async def is_over(self, programme: str, now: datetime) -> bool:
        return programme not in self.programmes().by_name or now >= self.programme.ends_at

    async def is_stopped(self) -> bool:
        return self.is_restored

    async def looked_at(self, some: Sequence[Exchange], now: datetime) -> list[Step]:
        assert self.reviews is not None
        return await self.reviews.looked_at(some, now)

    async def carry(self, some: Sequence[Exchange]) -> None:
        assert self.incoming is not None
        await self.incoming.carry(some)

    async def _link_of(self, programme: str, member_id: str) -> UUID:
        return LINK

    async def _ended(self, links: Sequence[UUID]) -> Mapping[UUID, str]:
        return self.ended

    async def _accounts_of(self, links: Sequence[UUID]) -> Mapping[UUID, Account]:
        return {each: Account("4711") for each in links if each not in self.ended}

    async def prefund(self, money: Decimal = PREFUND) -> None:
        await prefund(self.pool, self.programme.name, money)

    async def quote(self, points: int = 2500, member: str = "bob") -> UUID:
        wish = Wish(member, self.programme.name, points=points)
        quote = await self.desk.quote(wish, await self.standings(member), SHOP)
        assert quote.exchange is not None
        return quote.exchange.exchange_id

    async def convert(self, quote_id: UUID, key: str = "1", **changed: Any) -> Exchange:
        return await self.desk.convert(Conversion(quote_id, f"{SHOP.source}\n{key}", SHOP, **changed))

    async def exchange(self, points: int = 2500, member: str = "bob", key: str = "1") -> Exchange:
        return await self.convert(await self.quote(points, member), key)

    async def now(self, exchange: Exchange) -> Exchange:
        found = await self.desk.one(exchange.exchange_id)
        assert found is not None
        return found

    async def later(self, by: timedelta = timedelta(0)) -> None:
        """Time passes, and what is due then is done, until nothing is."""
        self.clock.set(self.clock.now() + by)
        while await self.exchanger.go_round():
            pass

    async def standings(self, member: str) -> Standings:
        accounts = await LedgerReader(self.pool).accounts(member)
        return {each.program: Standing(each.country, "member", each.balance, each.available) for each in accounts}

    async def points(self, member: str = "bob") -> tuple[int, int]:
        """The balance, and how much of it is held."""
        (account,) = await LedgerReader(self.pool).accounts(member)
        return account.balance, account.held

    async def money(self) -> list[tuple[str, Decimal]]:
        """What the entries of the position were for, and the balance after each."""
        entries = await entries_behind(self.pool, self.programme.name, 0, 1000)
        return [(each.kind.value, each.balance_after) for each in entries]

    async def trail(self, exchange: Exchange) -> list[str]:
        told = await self.desk.told(exchange)
        return [each.state.value for each in told.turns]


async def prefund(pool: Pool, programme: str, money: Decimal) -> None:
    """The house pays the partner in advance."""
    async with pool.acquire() as connection, connection.transaction():
        standings = await locked_standings(connection, [programme])
        paid = EntryDraft(programme, EntryKind.PAYMENT, money, "SGD", "person:ann")
        await write_entries(connection, standings, [paid], datetime.now(UTC))
