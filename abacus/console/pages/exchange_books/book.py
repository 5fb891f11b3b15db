"""The book of one programme: its months with invoices and payments, and forms for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Final

from abacus.console.decide.typed import day
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.page import Page, See
from abacus.core.errors import Refused
from abacus.core.money_text import read_sum
from abacus.documents.stated import last_approved
from abacus.exchanges.books.bill_rows import Invoice, MadeBill, Payment
from abacus.exchanges.books.desk import Balance, BooksDesk
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.people.types.deed import Deed
from abacus.programs.expiry.decide.month import Month

_LONGEST: Final = 100  # characters of a reference


@dataclass(frozen=True, kw_only=True)
class BookPage(Page):
    """Months, the newest first, each with the partner's invoice and what was paid for it."""

    template: ClassVar[str] = "exchange_book.html"
    name: str
    partner: str
    tax_code: str
    balance: Balance
    bills: Sequence[MadeBill]
    invoices: Mapping[str, Invoice]
    payments: Sequence[Payment]
    paid: Mapping[str, Decimal]
    month: str  # the last that is over
    may_keep: bool


async def book(call: Call) -> BookPage:
    programme = await _programme(call, Deed.SEE)
    desk = BooksDesk(call.reading.pool, call.premises.clock)
    payments = await desk.payments(programme.name)
    paid: dict[str, Decimal] = {}
    for each in payments:
        if each.month is not None:
            paid[each.month] = paid.get(each.month, Decimal(0)) + each.money
    [balance] = await desk.balances([programme])
    return BookPage(
        title=f"Book of {programme.name}",
        command=f"abacus exchanges books bills {programme.name}",
        name=programme.name,
        partner=programme.partner,
        tax_code=programme.money.tax_code,
        balance=balance,
        bills=await desk.bills(programme.name),
        invoices=await desk.invoices(programme.name),
        payments=payments,
        paid=paid,
        month=str(Month.last_over(call.now, programme.zone)),
        may_keep=call.may(Deed.CLOSE_BOOKS, programme.country),
    )


async def bill(call: Call) -> See:
    programme, month = await _programme(call, Deed.CLOSE_BOOKS), _month(call, "month")
    await _desk(call).bill(programme, month, call.actor.source)
    return See(f"/exchange-books/{programme.name}", f"{month} is billed.")


async def invoice(call: Call) -> See:
    programme, month = await _programme(call, Deed.CLOSE_BOOKS), _month(call, "invoice_month")
    reference, money = _reference(call, "invoice_reference"), _money(call, "invoice_money")
    differs = await _desk(call).invoice(programme, month, reference, money, call.actor)
    said = "It is our statement." if differs is None else f"Our statement says {differs.ours}: that is a break."
    return See(f"/exchange-books/{programme.name}", f"The invoice is entered. {said}")


async def pay(call: Call) -> See:
    programme = await _programme(call, Deed.CLOSE_BOOKS)
    paid_on = day(call.form.get("paid_on"))
    if paid_on is None:
        raise call.wrong(paid_on="Write a day as 2026-03-01.")
    month = _month(call, "paid_month") if call.form.get("paid_month") else None
    reference, money = _reference(call, "paid_reference"), _money(call, "paid_money")
    await _desk(call).pay(programme, reference, money, paid_on=paid_on, month=month, by=call.actor)
    return See(f"/exchange-books/{programme.name}", "The payment is entered.")


def _desk(call: Call) -> BooksDesk:
    return BooksDesk(call.premises.pool, call.premises.clock)


async def _programme(call: Call, deed: Deed) -> Programme:
    """Raises `PageFault` for a programme that is not there, or not open to the person."""
    history = await ProgrammeStore(call.reading.pool).history(call.request.path_params["programme"])
    if not history or not call.may(Deed.SEE, last_approved(history).country):
        raise PageFault("not-found", "No such programme is open to you.")
    programme = last_approved(history)
    call.check(deed, programme.country)
    return programme


def _month(call: Call, field: str) -> Month:
    """Raises `WrongForm`."""
    try:
        return Month.parse(call.form.get(field))
    except Refused as fault:
        raise call.wrong(**{field: f"{fault}."}) from None


def _money(call: Call, field: str) -> Decimal:
    """Raises `WrongForm`."""
    try:
        return read_sum(call.form.get(field))
    except Refused as fault:
        raise call.wrong(**{field: f"{fault}."}) from None


def _reference(call: Call, field: str) -> str:
    """Raises `WrongForm`."""
    reference = call.form.get(field)
    if not reference or len(reference) > _LONGEST:
        raise call.wrong(**{field: f"Write the reference, in at most {_LONGEST} characters."})
    return reference
