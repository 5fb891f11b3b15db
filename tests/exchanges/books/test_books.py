"""Three books against each other, on real tables."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from abacus.core.errors import Refused
from abacus.exchanges.books.break_rows import write_breaks
from abacus.exchanges.books.desk import BooksDesk
from abacus.exchanges.decide.exchange import State
from abacus.exchanges.decide.matching import Break, BreakKind
from abacus.exchanges.decide.position import EntryKind
from abacus.exchanges.decide.programme import Credit, Money
from abacus.exchanges.position_rows import EntryDraft, locked_standings, write_entries
from abacus.exchanges.types import PartnerStatement, StatementLine, StatementState
from abacus.people.types.person import Actor
from abacus.platform.postgres import Pool
from abacus.programs.expiry.decide.month import Month
from tests.support.exchange_rows import NOW, PROGRAMME, enter, exchange
from tests.support.fixed_clock import FixedClock
from tests.support.waiting import waiting

DAY = date(2026, 7, 8)
ANN = Actor("ann", ())
JUNE, JULY = Month(2026, 6), Month(2026, 7)


class Books:
    """A desk at a clock that is set, and exchanges that came to their states."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.clock = FixedClock(NOW)
        self.desk = BooksDesk(pool, self.clock)

    async def exchanged(self, state: State = State.CAPTURED, *, credited_on: date | None = DAY) -> UUID:
        at = None if credited_on is None else datetime.combine(credited_on, datetime.min.time(), UTC)
        row = await enter(self.pool, exchange(state=state, credited_at=at, ended_at=NOW))
        return row.exchange_id

    async def says(self, day: date, *lines: tuple[object, StatementState, int], complete: bool = True) -> int:
        """The partner's statement of a day; how many breaks are new."""
        said = [StatementLine(str(id_), state, amount, NOW) for id_, state, amount in lines]
        return (await self.desk.match(PROGRAMME, PartnerStatement(day, complete, said))).new_breaks

    async def breaks(self) -> list[tuple[BreakKind, str]]:
        return sorted((each.kind, each.about) for each in await self.desk.breaks() if each.tied_at is None)

    async def write(self, at: datetime, *entries: tuple[EntryKind, int]) -> None:
        async with self.pool.acquire() as connection, connection.transaction():
            locked = await locked_standings(connection, ["skymiles"])
            drafts = [EntryDraft("skymiles", kind, Decimal(money), "SGD", "app") for kind, money in entries]
            await write_entries(connection, locked, drafts, at)


@pytest.fixture
def books(pool: Pool) -> Books:
    return Books(pool)


async def test_two_books_that_agree_have_no_break(books: Books) -> None:
    id_, let_go = await books.exchanged(), await books.exchanged(State.RELEASED, credited_on=None)
    lines = [(id_, StatementState.CREDITED, 1000), (let_go, StatementState.REJECTED, 0)]
    assert await books.says(DAY, *lines) == 0
    assert await books.says(DAY, *lines) == 0
    assert await books.says(DAY + timedelta(days=1)) == 0
    assert await books.breaks() == []


async def test_each_difference_is_a_break_of_its_kind_and_stays_one(books: Books) -> None:
    other, let_go, back = await books.exchanged(), await books.exchanged(State.RELEASED), await books.exchanged()
    lines = [
        (other, StatementState.CREDITED, 999),
        (let_go, StatementState.CREDITED, 1000),
        (back, StatementState.REVERSED, 1000),
        ("not an id", StatementState.CREDITED, 7),
    ]
    assert await books.says(DAY, *lines) == 4
    assert await books.says(DAY, *lines) == 0
    expected = [
        (BreakKind.AMOUNT, str(other)),
        (BreakKind.NOT_OURS, "not an id"),
        (BreakKind.RELEASED, str(let_go)),
        (BreakKind.REVERSAL, str(back)),
    ]
    assert await books.breaks() == sorted(expected)
    [oldest, *_] = await books.desk.still_open()
    assert (oldest.programme, oldest.breaks, oldest.oldest) == ("skymiles", 1, NOW)


async def test_what_the_partner_never_tells_is_a_break_once_both_days_are_complete(books: Books) -> None:
    id_ = await books.exchanged()
    assert await books.says(DAY) == 0
    assert await books.says(DAY + timedelta(days=1), complete=False) == 0
    assert await books.says(DAY + timedelta(days=1)) == 1
    assert await books.breaks() == [(BreakKind.NOT_THEIRS, str(id_))]
    # The partner mends its statement: both books agree again, and a person still says why.
    assert await books.says(DAY, (id_, StatementState.CREDITED, 1000)) == 0
    assert await books.breaks() == []
    assert [each.tied_at for each in await books.desk.breaks()] == [NOW]


async def test_days_without_a_statement_are_breaks_until_they_come(books: Books) -> None:
    since, until = DAY - timedelta(days=2), DAY
    await books.says(DAY - timedelta(days=1))
    lacking = await books.desk.lacking(PROGRAMME, since, until)
    assert lacking == [since, until]
    assert await books.desk.note_missing(PROGRAMME, lacking) == 2
    await books.says(DAY)
    assert await books.breaks() == [(BreakKind.MISSING, since.isoformat())]


async def test_a_break_has_an_owner_and_is_closed_by_a_person_with_a_reason(books: Books) -> None:
    await books.says(DAY, ("x", StatementState.CREDITED, 7))
    [found] = await books.desk.breaks()
    assert (await books.desk.take(found, ANN)).owner == "person:ann"
    closed = await books.desk.close(found, ANN, "a test of theirs", correction=Decimal("-0.07"), currency="SGD")
    assert (closed.closed_by, closed.reason) == ("person:ann", "a test of theirs")
    with pytest.raises(Refused, match="person:ann closed this break"):
        await books.desk.close(found, ANN, "again")
    assert await books.desk.breaks() == []
    assert [each.balance for each in await books.desk.balances([PROGRAMME])] == [Decimal("-0.07")]
    assert await books.says(DAY, ("x", StatementState.CREDITED, 7)) == 0  # it was closed with this difference
    assert await books.says(DAY, ("x", StatementState.CREDITED, 8)) == 1
    assert await books.says(DAY, ("x", StatementState.CREDITED, 7)) == 0  # the open one says so from now on
    assert [each.theirs for each in await books.desk.breaks()] == ["credited, 7"]


async def test_a_closed_break_comes_again_where_both_books_agreed_in_between(books: Books) -> None:
    id_ = await books.exchanged()
    differs, agrees = (id_, StatementState.CREDITED, 999), (id_, StatementState.CREDITED, 1000)
    for new, closed in ((1, 1), (1, 2)):
        assert await books.says(DAY, differs) == new
        [found] = await books.desk.breaks()
        await books.desk.close(found, ANN, "a test of theirs")
        books.clock.set(books.clock.now() + timedelta(minutes=1))
        assert await books.says(DAY, differs) == 0
        assert await books.desk.breaks() == []
        assert await books.says(DAY, agrees) == 0
        ties = await books.pool.fetch("select closed_at < tied_at from exchange_break")
        assert [row[0] for row in ties] == [True] * closed
    assert await books.says(DAY, differs) == 1
    assert await books.says(DAY, agrees) == 0
    [tied] = await books.desk.breaks()
    assert tied.tied_at == books.clock.now()
    await books.desk.close(tied, ANN, "they mended it")
    assert await books.says(DAY, differs) == 1, "they agreed when it was closed"


async def test_months_are_billed_once_and_in_their_order(books: Books) -> None:
    await books.write(
        NOW - timedelta(days=40), (EntryKind.PAYMENT, 100), (EntryKind.HELD, 30), (EntryKind.CAPTURED, 30)
    )
    await books.write(NOW - timedelta(days=5), (EntryKind.AWARDED, 5))
    june = await books.desk.bill(PROGRAMME, JUNE, "person:ann")
    assert [june.bill.due, june.bill.payments, june.bill.closing] == [30, 100, 70]
    assert await books.desk.bill(PROGRAMME, JUNE, "person:bea") == june
    with pytest.raises(Refused, match="2026-07 is not over"):
        await books.desk.bill(PROGRAMME, JULY, "person:ann")
    books.clock.set(NOW + timedelta(days=70))
    await books.desk.bill(PROGRAMME, Month(2026, 8), "person:ann")
    august, july, _ = await books.desk.bills("skymiles")
    assert [july.bill.due, july.bill.opening, july.bill.closing, august.bill.due] == [-5, 70, 75, 0]
    with pytest.raises(Refused, match="months before 2026-06"):
        await books.desk.bill(PROGRAMME, Month(2026, 5), "person:ann")


async def test_nothing_is_billed_of_a_time_before_the_programme(books: Books) -> None:
    with pytest.raises(Refused, match="skymiles begins in 2026-01: there is nothing of 2025-12"):
        await books.desk.bill(PROGRAMME, Month(2025, 12), "person:ann")
    later = replace(PROGRAMME, starts_at=NOW)  # a newer version
    with pytest.raises(Refused, match="begins in 2026-07"):
        await books.desk.bill(later, JUNE, "person:ann")
    await books.write(NOW - timedelta(days=40), (EntryKind.CAPTURED, 30))
    with pytest.raises(Refused, match="begins in 2026-05"):
        await books.desk.bill(later, Month(2026, 4), "person:ann")
    assert (await books.desk.bill(later, Month(2026, 5), "person:ann")).bill.due == 30


async def test_an_entry_that_is_written_while_a_month_is_billed_is_billed_once(books: Books) -> None:
    at = NOW - timedelta(days=40)
    await books.write(at, (EntryKind.CAPTURED, 30))
    async with books.pool.acquire() as connection, connection.transaction():
        locked = await locked_standings(connection, ["skymiles"])
        billing = asyncio.ensure_future(books.desk.bill(PROGRAMME, JUNE, "person:ann"))
        await waiting(books.pool, billing)
        late = EntryDraft("skymiles", EntryKind.CAPTURED, Decimal(5), "SGD", "app")
        await write_entries(connection, locked, [late], at)
    june = await billing
    assert [june.bill.due, june.bill.last_n] == [35, 2]


async def test_an_invoice_and_its_break_are_one_transaction(books: Books) -> None:
    await books.write(NOW - timedelta(days=40), (EntryKind.CAPTURED, 30))
    await books.desk.bill(PROGRAMME, JUNE, "person:ann")
    async with books.pool.acquire() as connection:
        other = connection.transaction()
        await other.start()
        same = Break(BreakKind.INVOICE, "2026-06", None, "30", "1")
        await write_breaks(connection, "skymiles", "SG", [same], NOW)
        entering = asyncio.ensure_future(books.desk.invoice(PROGRAMME, JUNE, "INV-1", Decimal(31), ANN))
        await waiting(books.pool, entering)  # the invoice is written, and its break waits
        entering.cancel()
        with suppress(asyncio.CancelledError):
            await entering
        await other.rollback()
    assert await books.desk.invoices("skymiles") == {}
    assert await books.desk.invoice(PROGRAMME, JUNE, "INV-1", Decimal(31), ANN) is not None
    assert await books.breaks() == [(BreakKind.INVOICE, "2026-06")]


async def test_a_statement_of_a_partner_with_two_programmes_is_matched_in_both(books: Books) -> None:
    ours, stranger = await books.exchanged(), "22222222-2222-2222-2222-222222222222"
    theirs = (await enter(books.pool, exchange(State.CAPTURED, programme="cardmiles", credited_at=NOW))).exchange_id
    elses = await enter(books.pool, exchange(State.CAPTURED, programme="acme", partner="acme", credited_at=NOW))
    said = [
        StatementLine(str(id_), StatementState.CREDITED, amount, NOW)
        for id_, amount in ((ours, 1000), (theirs, 999), (stranger, 7), (elses.exchange_id, 1000))
    ]
    cards = replace(PROGRAMME, name="cardmiles")
    for programme in (PROGRAMME, cards):
        await books.desk.match(programme, PartnerStatement(DAY, complete=True, lines=said))
    found = {
        of: {each.about: each.kind for each in await books.desk.breaks(programme=of)}
        for of in ("skymiles", "cardmiles")
    }
    unknown = dict.fromkeys((stranger, str(elses.exchange_id)), BreakKind.NOT_OURS)
    assert found == {"skymiles": unknown, "cardmiles": {**unknown, str(theirs): BreakKind.AMOUNT}}


async def test_an_invoice_with_another_sum_is_a_break(books: Books) -> None:
    await books.write(NOW - timedelta(days=40), (EntryKind.CAPTURED, 30))
    with pytest.raises(Refused, match="has no statement yet"):
        await books.desk.invoice(PROGRAMME, JUNE, "INV-1", Decimal(30), ANN)
    await books.desk.bill(PROGRAMME, JUNE, "person:ann")
    found = await books.desk.invoice(PROGRAMME, JUNE, "INV-1", Decimal("31.50"), ANN)
    assert found is not None
    assert (found.kind, found.ours, found.theirs) == (BreakKind.INVOICE, "30", "31.50")
    with pytest.raises(Refused, match="has an invoice"):
        await books.desk.invoice(PROGRAMME, JUNE, "INV-2", Decimal(30), ANN)


async def test_a_month_on_credit_that_is_not_paid_in_time_is_a_break(books: Books) -> None:
    on_credit = replace(PROGRAMME, money=Money("SGD", "SR", Credit(Decimal(1000))))
    await books.write(NOW - timedelta(days=40), (EntryKind.CAPTURED, 30))
    await books.desk.bill(on_credit, JUNE, "person:ann")
    await books.desk.check_paid(on_credit)
    assert await books.breaks() == []
    books.clock.set(NOW + timedelta(days=30))
    await books.desk.check_paid(PROGRAMME)  # what is paid in advance is not paid by month
    assert await books.breaks() == []
    await books.desk.pay(on_credit, "T-1", Decimal(20), paid_on=DAY, month=JUNE, by=ANN)
    await books.desk.check_paid(on_credit)
    assert await books.breaks() == [(BreakKind.PAYMENT, "2026-06")]
    await books.desk.pay(on_credit, "T-2", Decimal(10), paid_on=DAY, month=JUNE, by=ANN)
    await books.desk.check_paid(on_credit)
    assert await books.breaks() == []


async def test_a_payment_is_entered_once_and_a_low_prefund_is_told(books: Books) -> None:
    assert [each.is_low for each in await books.desk.balances([PROGRAMME])] == [True]
    await books.desk.pay(PROGRAMME, "T-1", Decimal(80), paid_on=DAY, month=None, by=ANN)
    with pytest.raises(Refused, match="T-1 is entered already"):
        await books.desk.pay(PROGRAMME, "T-1", Decimal(80), paid_on=DAY, month=None, by=ANN)
    [balance] = await books.desk.balances([PROGRAMME])
    assert (balance.left, balance.is_low) == (Decimal(80), False)
    await books.write(NOW, (EntryKind.HELD, 31))
    assert [each.is_low for each in await books.desk.balances([PROGRAMME])] == [True]
    on_credit = replace(PROGRAMME, money=Money("SGD", "SR", Credit(Decimal(1000))))
    assert [each.left for each in await books.desk.balances([on_credit])] == [Decimal(1049)]
