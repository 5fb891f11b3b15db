"""Proving the ledger from its own rows: sequences, balances, hash chains, keys, explanations. In constant memory."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final, NamedTuple

from abacus.ledger.award import Kind
from abacus.ledger.transfer import NO_HASH, Account, Transfer, chain
from abacus.postgres import Connection, Pool, passing_failures

_FETCH: Final = 5000
_MOST_FAULTS: Final = 1000

_ACCOUNT: Final = ", ".join(f"a.{column}" for column in Account._fields)
_TRANSFER: Final = ", ".join(f"t.{column}" for column in Transfer._fields)

_ROWS: Final = f"""
select {_ACCOUNT}, {_TRANSFER}
from account a left join transfer t on t.member_id = a.member_id and t.program = a.program
where $1::text is null or a.member_id = $1
order by a.member_id, a.program, t.seq
"""

_WITHOUT_ACCOUNT: Final = f"""
select t.member_id, t.program, t.seq from transfer t
where ($1::text is null or t.member_id = $1)
    and not exists (select from account a where a.member_id = t.member_id and a.program = t.program)
limit {_MOST_FAULTS}
"""

# An expiry's key is unique within its account: the register has it with the account's name (`ids.expiry_claim`).
_CLAIMED_AS: Final = (
    f"case t.kind when '{Kind.EXPIRE}' then t.key || ':' || t.member_id || ':' || t.program else t.key end"
)

_WITHOUT_CLAIM: Final = f"""
select t.member_id, t.program, t.seq, t.key from transfer t
left join claim c on c.key = {_CLAIMED_AS} and c.member_id = t.member_id and c.program = t.program and c.seq = t.seq
where ($1::text is null or t.member_id = $1) and c.key is null
limit {_MOST_FAULTS}
"""

_WITHOUT_TRANSFER: Final = f"""
select c.member_id, c.program, c.seq, c.key from claim c
left join transfer t on t.member_id = c.member_id and t.program = c.program and t.seq = c.seq and c.key = {_CLAIMED_AS}
where ($1::text is null or c.member_id = $1) and t.key is null
limit {_MOST_FAULTS}
"""

# Says what is wrong with a transfer's explanation, or nothing.
Recompute = Callable[[Transfer], str | None]
Progress = Callable[[int], None]


class Fault(NamedTuple):
    """One row that is not what it must be."""

    member_id: str
    program: str
    seq: int
    what: str

    def __str__(self) -> str:
        return f"{self.member_id} {self.program} #{self.seq}: {self.what}"


@dataclass(slots=True)
class Report:
    """What was looked at and what was found."""

    accounts: int = 0
    transfers: int = 0
    faults: list[Fault] = field(default_factory=list)
    more_faults: int = 0

    @property
    def clean(self) -> bool:
        return not self.faults

    def found(self, fault: Fault) -> None:
        if len(self.faults) < _MOST_FAULTS:
            self.faults.append(fault)
        else:
            self.more_faults += 1


async def verify(
    pool: Pool, recompute: Recompute, *, member_id: str | None = None, progress: Progress = lambda _: None
) -> Report:
    """Check everything, or one member. One snapshot is looked at, so posting may go on meanwhile."""
    report = Report()
    async with (
        passing_failures(),
        pool.acquire() as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        await _check_accounts(connection, report, recompute, member_id, progress)
        await _check_keys(connection, report, member_id)
    return report


async def verify_accounts(connection: Connection, recompute: Recompute, member_id: str) -> Report:
    """Check one member within the caller's transaction, by key alone: a claim without a transfer is not looked for."""
    report = Report()
    await _check_accounts(connection, report, recompute, member_id, lambda _: None)
    for row in await connection.fetch(_WITHOUT_CLAIM, member_id):
        report.found(_unclaimed(row))
    return report


async def _check_accounts(
    connection: Connection, report: Report, recompute: Recompute, member_id: str | None, progress: Progress
) -> None:
    current: _Chain | None = None
    async for account, transfer in _rows(connection, member_id):
        if current is None or current.account[:2] != account[:2]:
            if current is not None:
                current.finish(report)
            current = _Chain(account)
            report.accounts += 1
        if transfer is not None:
            current.follow(transfer, recompute, report)
            report.transfers += 1
            if report.transfers % _FETCH == 0:
                progress(report.transfers)
    if current is not None:
        current.finish(report)
    progress(report.transfers)


async def _rows(connection: Connection, member_id: str | None) -> AsyncIterator[tuple[Account, Transfer | None]]:
    width = len(Account._fields)
    # The order is the primary keys' own: two index scans merged, nothing sorted, nothing held.
    await connection.execute("set local enable_hashjoin = off; set local enable_sort = off")
    async for row in connection.cursor(_ROWS, member_id, prefetch=_FETCH):
        values = tuple(row)
        account = Account(*values[:width])
        yield account, None if values[width] is None else Transfer(*values[width:])


class _Chain:
    """Follows one account's transfers from the first to the last."""

    def __init__(self, account: Account) -> None:
        self.account = account
        self._seq = 0
        self._balance = 0
        self._earned = 0
        self._hash = NO_HASH
        self._expires_on: date | None = None

    def follow(self, transfer: Transfer, recompute: Recompute, report: Report) -> None:
        def found(what: str) -> None:
            report.found(Fault(transfer.member_id, transfer.program, transfer.seq, what))

        if transfer.seq != self._seq + 1:
            found(f"follows #{self._seq}: {transfer.seq - self._seq - 1} missing before it")
        if transfer.balance_after != self._balance + transfer.points:
            found(f"balance_after is {transfer.balance_after}, not {self._balance} + {transfer.points}")
        if transfer.hash != chain(self._hash, transfer[:-1]):
            found("the hash does not match the row and the one before it")
        wrong = recompute(transfer)
        if wrong is not None:
            found(wrong)
        self._seq = transfer.seq
        self._balance = transfer.balance_after
        self._earned += transfer.points if transfer.kind == Kind.EARN else 0
        self._expires_on = transfer.expires_on
        self._hash = transfer.hash

    def finish(self, report: Report) -> None:
        for name, recorded, followed in (
            ("last_seq", self.account.last_seq, self._seq),
            ("balance", self.account.balance, self._balance),
            ("expires_on", self.account.expires_on, self._expires_on),
            ("earned_total", self.account.earned_total, self._earned),
            ("head_hash", self.account.head_hash.hex(), self._hash.hex()),
        ):
            if recorded != followed:
                what = f"the account's {name} is {recorded}, its transfers come to {followed}"
                report.found(Fault(self.account.member_id, self.account.program, self._seq, what))


async def _check_keys(connection: Connection, report: Report, member_id: str | None) -> None:
    await connection.execute("set local enable_hashjoin = on; set local enable_sort = on")
    for row in await connection.fetch(_WITHOUT_ACCOUNT, member_id):
        report.found(Fault(row[0], row[1], row[2], "has no account"))
    for row in await connection.fetch(_WITHOUT_CLAIM, member_id):
        report.found(_unclaimed(row))
    for row in await connection.fetch(_WITHOUT_TRANSFER, member_id):
        report.found(Fault(row[0], row[1], row[2], f"the key {row[3]} is claimed for a transfer that is not there"))


def _unclaimed(row: Sequence[Any]) -> Fault:
    return Fault(row[0], row[1], row[2], f"its key {row[3]} is not claimed for it")
