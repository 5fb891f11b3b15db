"""`abacus exchanges books`: what stands at partners, monthly statements, invoices and payments."""

from decimal import Decimal
from typing import Annotated, Final

import typer

from abacus.cli.exchanges.family import programme_desk
from abacus.cli.exchanges.named import programme_for
from abacus.cli.terminal.answer import Answer, Table, counted
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.sheets import read_day
from abacus.cli.terminal.shell import CommandGroup
from abacus.core.money_text import read_sum
from abacus.exchanges.books.bill_rows import MadeBill
from abacus.exchanges.books.desk import BooksDesk
from abacus.exchanges.decide.statement import Gross
from abacus.people.decide.rights import countries_of
from abacus.people.types.deed import Deed
from abacus.programs.expiry.decide.month import Month

app = CommandGroup(no_args_is_help=True, help="Books with partners: balances, statements, invoices and payments.")

Programme = Annotated[str, typer.Argument(metavar="PROGRAMME", show_default=False)]
OfMonth = Annotated[str, typer.Argument(metavar="MONTH", help="As 2026-07.", show_default=False)]
Reference = Annotated[str, typer.Argument(metavar="REFERENCE", help="Theirs, or the bank's.", show_default=False)]
Sum = Annotated[
    str, typer.Argument(metavar="SUM", help="As 1250.00; below zero, of the other side.", show_default=False)
]

_SIDES: Final = ("way", "exchanges", "our points", "their points", "money")


@app.command("balances")
async def list_balances() -> Answer:
    """List what stands at each partner: paid in advance or owed, and what may still be spoken for."""
    async with actor() as at, programme_desk(at) as desk:
        seen = countries_of(at.actor, Deed.SEE)
        standing = [each.document for each in await desk.standing()]
        programmes = [each for each in standing if seen is None or each.country in seen]
        found = await BooksDesk(at.pool, at.clock).balances(programmes)
    rows = [
        [each.programme, str(each.balance), str(each.left), each.currency, "low" if each.is_low else ""]
        for each in found
    ]
    columns = ("programme", "balance", "left", "currency", "")
    return Answer([each._asdict() for each in found], Table("Balances", columns, rows))


@app.command("bill")
async def bill_month(programme: Programme, month: OfMonth) -> Answer:
    """Make the statement of a month that is over, once for ever; a statement that is there is shown."""
    of_month = Month.parse(month)
    async with actor() as at:
        found = await programme_for(at, programme, Deed.CLOSE_BOOKS)
        made = await BooksDesk(at.pool, at.clock).bill(found, of_month, at.actor.source)
    return Answer(_document(made), *_shown(made))


@app.command("bills")
async def list_bills(programme: Programme) -> Answer:
    """List the statements of a programme, with the partner's invoices and what was paid."""
    async with actor() as at:
        found = await programme_for(at, programme)
        desk = BooksDesk(at.pool, at.clock)
        bills, invoices = await desk.bills(found.name), await desk.invoices(found.name)
        payments = await desk.payments(found.name)
    rows = [
        [
            made.bill.month,
            str(made.bill.out.money),
            str(made.bill.into.money),
            str(made.bill.due),
            str(invoice.money) if (invoice := invoices.get(made.bill.month)) else "",
            str(sum((each.money for each in payments if each.month == made.bill.month), Decimal(0))),
            str(made.bill.closing),
        ]
        for made in bills
    ]
    columns = ("month", "out", "in", "due", "invoice", "paid", "balance")
    document = {
        "bills": [_document(each) for each in bills],
        "invoices": [each._asdict() for each in invoices.values()],
        "payments": [each._asdict() for each in payments],
    }
    return Answer(document, Table(f"Statements of {programme}, in {found.money.currency}", columns, rows))


@app.command("invoice")
async def enter_invoice(programme: Programme, month: OfMonth, reference: Reference, money: Sum) -> Answer:
    """Enter the partner's invoice for a month. Where it says another sum than our statement, that is a break."""
    of_month, owed = Month.parse(month), read_sum(money)
    async with actor() as at:
        found = await programme_for(at, programme, Deed.CLOSE_BOOKS)
        differs = await BooksDesk(at.pool, at.clock).invoice(found, of_month, reference, owed, at.actor)
    told = "it is our statement" if differs is None else f"a break: our statement says {differs.ours}"
    document = {"programme": programme, "month": month, "reference": reference, "money": owed, "ties": differs is None}
    return Answer(document, f"{programme} {month}: {reference} over {owed}; {told}")


@app.command("pay")
async def enter_payment(
    programme: Programme,
    reference: Reference,
    money: Sum,
    on: Annotated[str, typer.Option("--on", metavar="DAY", help="When it was paid.", show_default=False)],
    month: Annotated[str | None, typer.Option("--month", metavar="MONTH", help="Which month it pays for.")] = None,
) -> Answer:
    """Enter money that was paid to the partner, or that the partner paid: once for each reference."""
    paid, of_month = read_sum(money), None if month is None else Month.parse(month)
    async with actor() as at:
        found = await programme_for(at, programme, Deed.CLOSE_BOOKS)
        desk, paid_on = BooksDesk(at.pool, at.clock), read_day(on, "--on", last=False)
        entered = await desk.pay(found, reference, paid, paid_on=paid_on, month=of_month, by=at.actor)
        [balance] = await desk.balances([found])
    told = f"{programme}: {paid} {balance.currency} entered; the balance is {balance.balance}"
    return Answer({**entered._asdict(), "balance": balance.balance}, told)


def _document(made: MadeBill) -> dict[str, object]:
    gross = {name: getattr(made.bill, name)._asdict() for name in ("out", "taken_back", "into")}
    return {**made.bill._asdict(), **gross, "made_at": made.made_at, "made_by": made.made_by}


def _shown(made: MadeBill) -> tuple[str | Table, ...]:
    of = made.bill
    rows = [_row("out", of.out), _row("taken back", of.taken_back), _row("in", of.into)]
    due = "the partner owes" if of.due < 0 else "the house owes"
    return (
        Table(f"{of.programme}, {of.month}, in {of.currency}", _SIDES, rows),
        f"{due} {abs(of.due)}; paid {of.payments}, corrected {of.corrections}, held at the end {of.spoken_for}",
        f"balance {of.opening} → {of.closing}, by {counted(of.last_n - of.first_n + 1, 'entry')}",
    )


def _row(way: str, gross: Gross) -> list[object]:
    return [way, gross.exchanges, gross.points, gross.theirs, str(gross.money)]
