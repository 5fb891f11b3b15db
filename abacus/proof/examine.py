"""Examining one part of the ledger on one connection, which sees the snapshot that all parts are examined in.

Members are examined by following each account along the primary key, a page at a time. Keys are examined by sums: each
transfer adds a number that depends on its key and its place, each claim subtracts it, and over all parts nothing may be
left. The numbers are hashes under a seed that is drawn for each run, so nobody can arrange for faults that cancel out.
A partner's award for a transaction has two claims.
Summing reads `claim` once from end to end; looking up each key would jump about in the largest index that there is.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from abacus.core.ids import PARTNERS
from abacus.core.sources import CLOCK, IMPORT, STREAM
from abacus.ledger.types.account import Account, AccountId
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.transfer import Transfer
from abacus.platform.postgres import Connection, pages
from abacus.platform.sql import Statement, columns
from abacus.pricing.explanation.sql import text
from abacus.proof.approvals import check_approvals, check_movements
from abacus.proof.beside import By, Together
from abacus.proof.decide.account_chain import Drawn, Follower
from abacus.proof.decide.approved import takes_a_word
from abacus.proof.decide.report import Report
from abacus.proof.hold_rows import HoldRows
from abacus.proof.log import check_chain, check_ends
from abacus.proof.partner_awards import check_partner_awards
from abacus.proof.partners import Partners
from abacus.proof.parts import (
    Findings,
    Generations,
    House,
    Keys,
    Log,
    Members,
    Part,
    Places,
    Root,
    Span,
    check_entries,
    check_generations,
    check_places,
)
from abacus.proof.sight import Pager, Sight
from abacus.proof.stated import check_stated
from abacus.proof.tree import grow

# An expiry's key is unique within its account: the register has it with the account's name (`ids.expiry_claim`).
CLAIMED_AS: Final = (
    f"case t.kind when '{TransferKind.EXPIRE}' then t.key || ':' || t.member_id || ':' || t.program else t.key end"
)

# The key of its transaction, which a partner's award claims too; null where there is none.
CLAIMED_TOO: Final = f"case when starts_with(t.key, '{PARTNERS}') then {text('transaction')} end"

# Sources of neither partners nor persons.
_OF_NOBODY: Final = frozenset({STREAM, IMPORT, CLOCK})

# Rows come in the order of the primary keys, so nothing is sorted and nothing is held.
_PLANS: Final[Mapping[str, str]] = {
    "enable_sort": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_bitmapscan": "off",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
}


async def use_examining_plans(sight: Sight) -> None:
    """Plan for reading in key order, for the rest of the transactions."""
    for connection in {sight.shared, *(each.connection for each in sight.slices)}:
        await connection.execute("; ".join(f"set local {name} = {value}" for name, value in _PLANS.items()))


async def examine(sight: Sight, part: Part, by: By) -> Findings:
    """In transactions that use the examining plans."""
    findings = Findings()
    match part:
        case Members():
            findings = await _members(await sight.ledger(part.number), sight, part, by)
        case Keys():
            findings = await _keys(await sight.ledger(part.number), sight, part, by.seed)
        case Generations():
            findings = await check_generations(sight, part)
        case Places():
            findings = await check_places(sight, part)
        case Root():
            findings = await _root(await sight.ledger(part.number), part)
        case Log():
            findings = Findings(await check_chain(sight.shared, part))
        case House():
            findings = Findings(await check_approvals(sight))
            findings.report.add(await check_ends(sight.shared))
            findings.report.add(await check_stated(sight.shared))
    return findings


def _number(key: str, table: str, seed: int) -> str:
    """SQL for the number of a key at its place. A colon separates program and `seq`, which hold none."""
    place = f"{table}.seq || ':' || {table}.program || ':' || {table}.member_id"
    return f"hashtextextended({place} || e'\\n' || {key}, {seed})"


async def _members(connection: Connection, sight: Sight, part: Members, by: By) -> Findings:
    findings, span = Findings(), part.span
    report = findings.report
    accounts, draws, holds = _Accounts(connection, span), _Draws(connection, span), HoldRows(connection, span)
    partners = await Partners.of(connection, sight, part)
    beside = Together([await each.open(connection, sight.shared, span) for each in by.beside])
    follower: Follower | None = None
    numbers = 0
    async for page in _transfers(connection, span, by.seed):
        others: list[Transfer] = []
        for *transferred, number, number_too in page:
            transfer = Transfer._make(transferred)
            id_ = (transfer.member_id, transfer.program)
            if follower is None or follower.id != id_:
                if follower is not None:
                    report.faults_of(follower.id, follower.seq, follower.finish())
                account = await accounts.up_to(id_, report)
                drawn, held = await draws.of(id_, report), await holds.of(id_, report)
                await beside.turn_to(id_, report)
                follower = Follower(id_, account, by.recompute, drawn, held)
            numbers += number
            if number_too is not None:
                findings.keys += 1
                numbers += number_too
            beside.follow(transfer)
            faults = follower.follow(transfer)
            if faults:
                report.faults_of(id_, transfer.seq, faults)
            if transfer.source not in _OF_NOBODY:
                others.append(transfer)
        await partners.follow(others, findings)
        await partners.up_to(page[-1][0], report)
        await check_movements(sight.shared, [each for each in others if takes_a_word(each)], report)
        await check_partner_awards(sight.shared, others if by.asked else (), report)
        findings.keys += len(page)
        report.transfers += len(page)
    if follower is not None:
        report.faults_of(follower.id, follower.seq, follower.finish())
    await accounts.up_to(None, report)
    await draws.of(None, report)
    await holds.of(None, report)
    await partners.up_to(None, report)
    await beside.turn_to(None, report)
    findings.numbers = numbers
    return findings


def _transfers(connection: Connection, span: Span, seed: int) -> AsyncIterator[Sequence[Any]]:
    """Pages of transfers, each with the numbers of its key and of its transaction's."""
    query = Statement(f"""
        select {columns(Transfer, "t")}, {_number(CLAIMED_AS, "t", seed)}, {_number(CLAIMED_TOO, "t", seed)}
        from transfer t where {span.where("t")}
        order by t.member_id, t.program, t.seq
    """)
    return pages(connection, *query(**span.parameters))


class _Accounts:
    """The accounts in order, beside their transfers."""

    def __init__(self, connection: Connection, span: Span) -> None:
        query = Statement(f"""
            select {columns(Account, "a")} from account a where {span.where("a")} order by a.member_id, a.program
        """)
        self._rows = Pager(Account, connection, *query(**span.parameters))

    async def up_to(self, id_: AccountId | None, report: Report) -> Account | None:
        """The account, if it is there. Accounts before it have no transfers: they must be empty."""
        while (account := await self._rows.peek()) is not None and (id_ is None or account.id <= id_):
            await self._rows.take()
            report.accounts += 1
            if account.id == id_:
                return account
            report.faults_of(account.id, 0, Follower(account.id, account, _nothing).finish())
        return None


class _Draw(NamedTuple):
    """A row of `draw`, with the key of the lot's transfer."""

    member_id: str
    program: str
    lot_seq: int
    seq: int
    points: int
    lot_key: str | None

    @property
    def account_id(self) -> AccountId:
        return (self.member_id, self.program)


class _Draws:
    """The draws from lots, in order, beside the transfers that made them."""

    def __init__(self, connection: Connection, span: Span) -> None:
        query = Statement(f"""
            select d.member_id, d.program, d.lot_seq, d.seq, d.points, t.key as lot_key from draw d
            left join transfer t on t.member_id = d.member_id and t.program = d.program and t.seq = d.lot_seq
            where {span.where("d")} order by d.member_id, d.program, d.lot_seq, d.seq
        """)
        self._rows = Pager(_Draw, connection, *query(**span.parameters))

    async def of(self, id_: AccountId | None, report: Report) -> list[Drawn]:
        """The draws of the account. There are none before it: they would belong to accounts without transfers."""
        drawn: list[Drawn] = []
        while (draw := await self._rows.peek()) is not None and (id_ is None or draw.account_id <= id_):
            await self._rows.take()
            if draw.account_id == id_:
                drawn.append(Drawn(draw.lot_seq, draw.seq, draw.points, draw.lot_key))
            else:
                report.faults_of(draw.account_id, draw.seq, ["a draw from a lot, of a transfer that is not there"])
        return drawn


def _nothing(_: Transfer) -> None:
    """An account without transfers has nothing to recompute."""


async def _keys(connection: Connection, sight: Sight, part: Keys, seed: int) -> Findings:
    here = f"""
        from claim_{part.generation} c
        where {part.span.where("c")} and c.ctid >= '({part.first_page},0)' and c.ctid < '({part.beyond},0)'
    """
    query = Statement(f"select count(*), coalesce(sum({_number('c.key', 'c', seed)}), 0) {here}")
    count, numbers = await connection.fetchrow(*query(**part.span.parameters))
    findings = Findings(keys=-count, numbers=-int(numbers))
    if part.are_entered:
        await check_entries(sight, part, here, findings.report)
    return findings


async def _root(connection: Connection, part: Root) -> Findings:
    seal, number, recorded = part
    grown = await grow(connection, seal.snapshots[number], seal.number, seal.format)
    findings = Findings(Report(seals=[seal.number] if number == 0 else []))
    findings.report.note(*seal.compared_in(number, recorded, grown.sealed))
    return findings
