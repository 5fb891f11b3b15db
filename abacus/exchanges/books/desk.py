"""What people do with the books: the caller checks each deed, the desk does it and writes it into the log."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID

from abacus.core.clock import Clock
from abacus.core.errors import Absent, Refused, absent
from abacus.exchanges.books.bill_rows import BillRows, Invoice, MadeBill, Payment
from abacus.exchanges.books.break_rows import BreakRows, FoundBreak, OpenBreaks, write_breaks
from abacus.exchanges.books.matcher import Matched, Matcher
from abacus.exchanges.decide.matching import Break, BreakKind
from abacus.exchanges.decide.position import EntryKind
from abacus.exchanges.decide.programme import Credit, Direction, Prefunded, Programme
from abacus.exchanges.position_rows import (
    EntryDraft,
    Standing,
    entries_behind,
    locked_standings,
    standings,
    write_entries,
)
from abacus.exchanges.types import PartnerStatement
from abacus.people.store.audit import entry_of, noted
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor
from abacus.platform.postgres import Also, Connection, Pool, passing_failures, together
from abacus.programs.expiry.decide.month import Month

MOST_LISTED: Final = 500
PAID_WITHIN: Final = timedelta(days=30)  # behind the end of a month


class Balance(NamedTuple):
    """What stands at a partner: `left` is what may still be spoken for, by the prefund or by the limit."""

    programme: str
    balance: Decimal
    left: Decimal
    currency: str
    is_low: bool


class BooksDesk:
    """Every method raises `Unavailable` while the database is away, and `Refused` for what cannot be done."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock
        self._bills = BillRows(pool)
        self._breaks = BreakRows(pool)
        self._matcher = Matcher(pool, clock)

    async def balances(self, programmes: Sequence[Programme]) -> list[Balance]:
        async with passing_failures():
            known = await standings(self._pool)
        return [_balance(each, known.get(each.name)) for each in programmes]

    async def bills(self, programme: str) -> list[MadeBill]:
        return await self._bills.all_of(programme)

    async def bill(self, programme: Programme, month: Month, by: str) -> MadeBill:
        """The statement of a month, and before it of each month that has none since the last that was billed. Raises
        `Refused` for a month before anything was there to be billed.
        """
        made = await self._bills.all_of(programme.name)
        if not made and month < (first := await self._first_month(programme)):
            raise Refused(f"{programme.name} begins in {first}: there is nothing of {month}")
        after = Month.parse(made[0].bill.month).after if made else month
        found = next((each for each in made if each.bill.month == str(month)), None)
        while after <= month:
            found = await self._bills.make(
                programme,
                after,
                by=by,
                now=self._clock.now(),
                also=self._noted(by, programme, month=str(after), act="bill"),
            )
            after = after.after
        if found is None:
            raise Refused(f"{programme.name}: months before {made[-1].bill.month} are not billed any more")
        return found

    async def _first_month(self, programme: Programme) -> Month:
        """In which the programme begins; an earlier version of it may have been used before."""
        async with passing_failures():
            entries = await entries_behind(self._pool, programme.name, 0, 1)
        began = min([programme.starts_at, *(each.at for each in entries)])
        return Month.of(began.astimezone(programme.zone).date())

    async def invoices(self, programme: str) -> Mapping[str, Invoice]:
        return await self._bills.invoices(programme)

    async def payments(self, programme: str) -> list[Payment]:
        return await self._bills.payments(programme)

    async def invoice(
        self, programme: Programme, month: Month, reference: str, money: Decimal, by: Actor
    ) -> Break | None:
        """What the partner says is owed for a month; the break, where our statement says another sum."""
        made = next((each.bill for each in await self.bills(programme.name) if each.bill.month == str(month)), None)
        if made is None:
            raise Refused(f"{programme.name}: {month} has no statement yet")
        now = self._clock.now()
        invoice = Invoice(programme.name, str(month), reference, money, now, by.source)
        differs = None
        if money != made.due:
            differs = Break(BreakKind.INVOICE, str(month), None, str(made.due), str(money))
        noted_ = self._noted(
            by.source, programme, month=str(month), reference=reference, money=str(money), act="invoice"
        )

        async def broken(connection: Connection) -> None:
            found = [] if differs is None else [differs]
            await write_breaks(connection, programme.name, programme.country, found, now)

        await self._bills.enter(invoice, together(noted_, broken))
        return differs

    async def pay(
        self, programme: Programme, reference: str, money: Decimal, *, paid_on: date, month: Month | None, by: Actor
    ) -> Payment:
        payment = Payment(
            programme.name,
            reference,
            None if month is None else str(month),
            money,
            paid_on,
            self._clock.now(),
            by.source,
        )
        noted_ = self._noted(by.source, programme, reference=reference, money=str(money), act="payment")
        await self._bills.pay(payment, programme.money.currency, noted_)
        return payment

    async def check_paid(self, programme: Programme) -> None:
        """Of a programme on credit: a month that is over for long, and not paid as its statement says, is a break."""
        if not isinstance(programme.money.terms, Credit):
            return
        payments, found, paid_up = await self.payments(programme.name), list[Break](), list[str]()
        for each in (made.bill for made in await self.bills(programme.name)):
            if self._clock.now() < Month.parse(each.month).over_at(programme.zone) + PAID_WITHIN:
                continue
            paid = sum((payment.money for payment in payments if payment.month == each.month), Decimal(0))
            if paid == each.due:
                paid_up.append(each.month)
            else:
                found.append(Break(BreakKind.PAYMENT, each.month, None, str(each.due), str(paid)))
        await self._matcher.note(programme, found, agreed={BreakKind.PAYMENT: paid_up})

    async def match(self, programme: Programme, statement: PartnerStatement) -> Matched:
        return await self._matcher.match(programme, statement)

    async def lacking(self, programme: Programme, since: date, until: date) -> list[date]:
        return await self._matcher.lacking(programme, since, until)

    async def unread(self, programme: str, days: Sequence[date], after: datetime) -> list[date]:
        """Days whose statements were not read since then."""
        return await self._matcher.unread(programme, days, after)

    async def note_missing(self, programme: Programme, days: Sequence[date]) -> int:
        return await self._matcher.note_missing(programme, days)

    async def note(self, programme: Programme, found: Sequence[Break]) -> int:
        """Breaks that were found elsewhere; how many are new."""
        return await self._matcher.note(programme, found)

    async def breaks(
        self,
        *,
        programme: str | None = None,
        kind: BreakKind | None = None,
        countries: Sequence[str] | None = None,
        is_open: bool | None = True,
        limit: int = MOST_LISTED,
    ) -> list[FoundBreak]:
        narrowed: dict[str, object] = {"programme": programme, "kind": kind, "is_open": is_open}
        narrowed["countries"] = None if countries is None else list(countries)
        return await self._breaks.listed(narrowed, limit)

    async def of_exchange(self, exchange_id: UUID) -> list[FoundBreak]:
        """Open and closed."""
        return await self._breaks.listed({"exchange_id": exchange_id}, MOST_LISTED)

    async def still_open(self) -> list[OpenBreaks]:
        return await self._breaks.still_open()

    async def the_break(self, break_id: UUID) -> FoundBreak:
        """Raises `Absent`."""
        found = await self._breaks.of(break_id)
        if found is None:
            raise unknown_break(break_id)
        return found

    async def take(self, found: FoundBreak, by: Actor) -> FoundBreak:
        """From now on it is this person's."""
        also = self._noted_break(by, found, act="take")
        return await self._breaks.take(found.break_id, by.source, self._clock.now(), also)

    async def close(
        self, found: FoundBreak, by: Actor, reason: str, *, correction: Decimal | None = None, currency: str = ""
    ) -> FoundBreak:
        """With a correction of the position, in the same transaction, where money is to be put right."""
        also = self._noted_break(by, found, act="close", reason=reason, correction=correction)
        if correction:
            also = together(also, self._corrected(found, correction, currency, by, reason))
        return await self._breaks.close(found.break_id, by.source, reason, self._clock.now(), also)

    def _corrected(self, found: FoundBreak, money: Decimal, currency: str, by: Actor, reason: str) -> Also:
        draft = EntryDraft(
            found.programme,
            EntryKind.CORRECTION,
            money,
            currency,
            by.source,
            document=str(found.break_id),
            reason=reason,
        )

        async def also(connection: Connection) -> None:
            locked = await locked_standings(connection, [found.programme])
            await write_entries(connection, locked, [draft], self._clock.now())

        return also

    def _noted(self, by: str, programme: Programme, **details: object) -> Also:
        subject = f"exchange_books:{programme.name}"
        now = self._clock.now()
        return noted(entry_of(by, Deed.CLOSE_BOOKS, subject, now, country=programme.country, **details))

    def _noted_break(self, by: Actor, found: FoundBreak, **details: object) -> Also:
        subject = f"exchange_break:{found.break_id}"
        now = self._clock.now()
        return noted(entry_of(by.source, Deed.CLOSE_BOOKS, subject, now, country=found.country, **details))


def unknown_break(break_id: UUID) -> Absent:
    return absent("break", str(break_id), "`abacus exchanges breaks` lists all")


def left_of(programme: Programme, balance: Decimal) -> Decimal:
    """What may still be spoken for."""
    terms = programme.money.terms
    return balance if isinstance(terms, Prefunded) else balance + terms.limit


def _balance(programme: Programme, standing: Standing | None) -> Balance:
    balance = Decimal(0) if standing is None else standing.balance
    terms, left = programme.money.terms, left_of(programme, balance)
    is_low = isinstance(terms, Prefunded) and Direction.OUT in programme.directions and left < terms.alert_below
    return Balance(programme.name, balance, left, programme.money.currency, is_low)
