"""Verifying tiers: what is on record of them beside the transfers that they follow from."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from abacus.ledger.types.account import AccountId
from abacus.ledger.types.transfer import Transfer
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, columns
from abacus.pricing.decide.book import CardBook
from abacus.programs.tiers.accounts import TallyRow
from abacus.programs.tiers.decide.policy import Tally
from abacus.programs.tiers.decide.recount import Published, Recorded, Recount
from abacus.programs.tiers.decide.tier_change import AccountTier, Calendars, Change
from abacus.proof.beside import RowsBeside
from abacus.proof.decide.report import Report
from abacus.proof.parts import Span
from abacus.proof.sight import Pager

_CALENDARS: Final = "select country, rolled_through from tier_calendar"
_PUBLISHED: Final = "select scope, published_at, effective_from from rate_card"


class _Override(NamedTuple):
    member_id: str
    program: str
    tier: str


class Tiers:
    """`book` has the cards by which points count."""

    def __init__(self, book: CardBook) -> None:
        self._book = book

    async def open(self, connection: Connection, shared: Connection, span: Span) -> RowsBeside:
        published: dict[str, list[tuple[datetime, datetime]]] = defaultdict(list)
        for scope, published_at, effective_from in await shared.fetch(_PUBLISHED):
            published[scope].append((published_at, effective_from))
        calendars = Calendars(self._book, dict(await connection.fetch(_CALENDARS)))
        return _TierRows(connection, span, Published(calendars, published))


class _TierRows:
    def __init__(self, connection: Connection, span: Span, cards: Published) -> None:
        def pager(row_type: type[Any], table: str, then: str = "") -> Pager[Any]:
            query = Statement(f"""
                select {columns(row_type, "t")} from {table} t where {span.where("t")}
                order by t.member_id, t.program{then}
            """)
            return Pager(row_type, connection, *query(**span.parameters))

        self._accounts = pager(AccountTier, "account_tier")
        self._tallies = pager(TallyRow, "tier_tally", ", t.starts_on, t.ends_on")
        self._changes = pager(Change, "tier_change", ", t.n")
        self._overrides = pager(_Override, "membership")
        self._pagers = (self._accounts, self._tallies, self._changes, self._overrides)
        self._cards = cards
        self._account: AccountId | None = None
        self._seq = 0
        self._recount = Recount.of_nothing(cards)

    async def turn_to(self, account: AccountId | None, report: Report) -> None:
        self._end(report)
        while (earlier := await self._first()) is not None and (account is None or earlier < account):
            self._recount, self._account = Recount(await self._recorded(earlier), self._cards), earlier
            self._end(report)
        if account is not None:
            self._recount, self._account = Recount(await self._recorded(account), self._cards), account

    def follow(self, transfer: Transfer) -> None:
        self._seq = transfer.seq
        self._recount.count(transfer)

    def _end(self, report: Report) -> None:
        if self._account is not None:
            report.faults_of(self._account, self._seq, self._recount.faults())
        self._account, self._seq = None, 0

    async def _first(self) -> AccountId | None:
        """The first account that is left in any of the tables."""
        rows = [await pager.peek() for pager in self._pagers]
        return min((row[:2] for row in rows if row is not None), default=None)

    async def _recorded(self, account: AccountId) -> Recorded:
        rows = await _of(self._accounts, account)
        tallies: list[Tally] = [row.tally for row in await _of(self._tallies, account)]
        changes = await _of(self._changes, account)
        overrides = await _of(self._overrides, account)
        override = overrides[0].tier if overrides else None
        return Recorded(rows[0] if rows else None, {each.period: each for each in tallies}, changes, override)


async def _of(pager: Pager[Any], account: AccountId) -> Sequence[Any]:
    rows: list[Any] = []
    while (row := await pager.peek()) is not None and row[:2] == account:
        rows.append(await pager.take())
    return rows
