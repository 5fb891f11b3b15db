"""Statements of months, invoices and payments in Postgres: none is ever changed."""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple

import orjson

from abacus.core.errors import Refused, Unavailable
from abacus.exchanges.decide.position import EntryKind
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.statement import Bill, Gross, MonthTally, carried
from abacus.exchanges.position_rows import EntryDraft, entries_behind, locked_standings, write_entries
from abacus.platform.postgres import Also, Connection, Pool, passing_failures
from abacus.platform.sql import Statement, columns, parameters
from abacus.programs.expiry.decide.month import Month

_PAGE: Final = 10_000
_GROSS: Final = ("out", "taken_back", "into")
_SUMS: Final = ("due", "payments", "corrections", "spoken_for", "opening", "closing")


class MadeBill(NamedTuple):
    """A statement, when it was made and by whom."""

    bill: Bill
    made_at: datetime
    made_by: str


class Invoice(NamedTuple):
    """What the partner says is owed for a month; below zero where it is what the partner owes."""

    programme: str
    month: str
    reference: str
    money: Decimal
    entered_at: datetime
    entered_by: str


class Payment(NamedTuple):
    """Money that the house paid; below zero where the partner paid. Without a month it is paid in advance."""

    programme: str
    reference: str
    month: str | None
    money: Decimal
    paid_on: date
    entered_at: datetime
    entered_by: str


_LATEST: Final = Statement("""
select document, made_at, made_by from exchange_bill where programme = :programme
order by month desc limit 1
""")
_ALL: Final = Statement("""
select document, made_at, made_by from exchange_bill where programme = :programme order by month desc
""")
_MAKE: Final = Statement("""
insert into exchange_bill values (:programme, :month, :last_n, :document, :now, :by)
""")
_INVOICES: Final = Statement(f"select {columns(Invoice)} from exchange_invoice where programme = :programme")
_ENTER: Final = Statement(f"""
insert into exchange_invoice ({columns(Invoice)}) values ({parameters(Invoice)}) on conflict do nothing returning 1
""")
_PAYMENTS: Final = Statement(f"""
select {columns(Payment)} from exchange_payment where programme = :programme order by paid_on desc, reference
""")
_PAY: Final = Statement(f"""
insert into exchange_payment ({columns(Payment)}) values ({parameters(Payment)}) on conflict do nothing returning 1
""")


class BillRows:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def all_of(self, programme: str) -> list[MadeBill]:
        """The newest first."""
        async with passing_failures():
            return [_made(row) for row in await self._pool.fetch(*_ALL(programme=programme))]

    async def make(self, programme: Programme, month: Month, *, by: str, now: datetime, also: Also) -> MadeBill:
        """The statement of a month, which stands once it is made. Raises `Refused` for a month that is not over, and
        for a month before the last that was billed.

        Entries never change, and are numbered as they are written: all that are there are read before the standing is
        locked, and behind the lock only those that came since.
        """
        if not month.is_over(now, programme.zone):
            raise Refused(f"{month} is not over by the clock of {programme.name}")
        async with passing_failures():
            before = await _latest(self._pool, programme.name)
            tally = MonthTally(carried(before.bill if before is not None else None), month.over_at(programme.zone))
            is_whole = await _added_up(self._pool, programme.name, tally)
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await locked_standings(connection, [programme.name])
            found = await _latest(connection, programme.name)
            if found is not None and found.bill.month == str(month):
                return found
            if found is not None and found.bill.month > str(month):
                raise Refused(f"{programme.name}: {found.bill.month} is billed, so {month} is too")
            if found != before:
                raise Unavailable("exchanges", f"{programme.name} was billed by another meanwhile")
            if not is_whole:
                await _added_up(connection, programme.name, tally)
            made = tally.bill(programme.name, str(month), programme.money.currency)
            await connection.execute(
                *_MAKE(
                    programme=programme.name,
                    month=str(month),
                    last_n=made.last_n,
                    document=_document(made),
                    now=now,
                    by=by,
                )
            )
            await also(connection)
        return MadeBill(made, now, by)

    async def invoices(self, programme: str) -> Mapping[str, Invoice]:
        """By month."""
        async with passing_failures():
            rows = await self._pool.fetch(*_INVOICES(programme=programme))
        return {row["month"]: Invoice(*row) for row in rows}

    async def enter(self, invoice: Invoice, also: Also) -> None:
        """Raises `Refused` for a month that has another invoice."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            if not await connection.fetchval(*_ENTER(**invoice._asdict())):
                raise Refused(f"{invoice.programme}: {invoice.month} has an invoice; a correction is a payment")
            await also(connection)

    async def payments(self, programme: str) -> list[Payment]:
        async with passing_failures():
            return [Payment(*row) for row in await self._pool.fetch(*_PAYMENTS(programme=programme))]

    async def pay(self, payment: Payment, currency: str, also: Also) -> None:
        """The payment and its entry of the position. Raises `Refused` for a reference that was entered before."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            locked = await locked_standings(connection, [payment.programme])
            if not await connection.fetchval(*_PAY(**payment._asdict())):
                raise Refused(f"{payment.programme}: the payment {payment.reference} is entered already")
            entry = EntryDraft(
                payment.programme,
                EntryKind.PAYMENT,
                payment.money,
                currency,
                payment.entered_by,
                document=payment.reference,
            )
            await write_entries(connection, locked, [entry], payment.entered_at)
            await also(connection)


async def _latest(reader: Pool | Connection, programme: str) -> MadeBill | None:
    row = await reader.fetchrow(*_LATEST(programme=programme))
    return None if row is None else _made(row)


async def _added_up(reader: Pool | Connection, programme: str, tally: MonthTally) -> bool:
    """Whether an entry of a later month is there already: the month has no more entries then."""
    page = await entries_behind(reader, programme, tally.last_n, _PAGE)
    while tally.take(page):
        if len(page) < _PAGE:
            return False
        page = await entries_behind(reader, programme, tally.last_n, _PAGE)
    return True


def _document(made: Bill) -> str:
    gross = {name: getattr(made, name)._asdict() for name in _GROSS}
    return orjson.dumps({**made._asdict(), **gross}, default=str).decode()


def _made(row: Any) -> MadeBill:
    fields: dict[str, Any] = orjson.loads(row["document"])
    for name in _GROSS:
        fields[name] = Gross(**{**fields[name], "money": Decimal(fields[name]["money"])})
    for name in _SUMS:
        fields[name] = Decimal(fields[name])
    return MadeBill(Bill(**fields), row["made_at"], row["made_by"])
