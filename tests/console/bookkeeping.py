"""Books with a partner that has statements, payments and a break."""

from datetime import timedelta
from decimal import Decimal
from uuid import UUID

from abacus.exchanges.books.break_rows import FoundBreak
from abacus.exchanges.books.desk import BooksDesk
from abacus.exchanges.decide.matching import BreakKind
from abacus.exchanges.decide.programme import Programme
from abacus.platform.sql import Statement, columns, parameters
from abacus.programs.expiry.decide.month import Month
from tests.console.desk import Desk
from tests.support.staff import ADMIN

_BREAK = Statement(f"insert into exchange_break ({columns(FoundBreak)}) values ({parameters(FoundBreak)})")


async def found_break(open_desk: Desk, break_id: UUID, programme: str = "skymiles") -> UUID:
    row = FoundBreak(
        break_id=break_id,
        programme=programme,
        country="SG",
        kind=BreakKind.NOT_OURS,
        about="0190-7",
        exchange_id=None,
        ours="unknown",
        theirs="credited, 1000",
        found_at=open_desk.clock.now() - timedelta(days=3),
        tied_at=None,
        owner=None,
        taken_at=None,
        closed_at=None,
        closed_by=None,
        reason=None,
    )
    await open_desk.pool.execute(*_BREAK(**row._asdict()))
    return break_id


async def keep_books(open_desk: Desk, programme: Programme, break_id: UUID) -> None:
    """The last month is billed, with an invoice of another sum."""
    desk = BooksDesk(open_desk.pool, open_desk.clock)
    month = Month.last_over(open_desk.clock.now(), programme.zone)
    await desk.bill(programme, month, "clock")
    await desk.invoice(programme, month, "INV-7", Decimal("31.50"), ADMIN)
    paid_on = open_desk.clock.now().date()
    await desk.pay(programme, "T-1", Decimal(2500), paid_on=paid_on, month=None, by=ADMIN)
    await found_break(open_desk, break_id)
