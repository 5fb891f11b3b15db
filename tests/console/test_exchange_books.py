"""Finance looks at the books with partners, closes breaks, and enters invoices and payments."""

from uuid import uuid4

from abacus.exchanges.books.desk import BooksDesk
from abacus.exchanges.decide.matching import BreakKind
from abacus.platform.postgres import Pool
from abacus.programs.expiry.decide.month import Month
from tests.console.bookkeeping import found_break
from tests.console.campaigning import cards
from tests.console.desk import desk
from tests.support.exchanges import NOW, enter_partner, run_programme


async def test_a_break_is_taken_and_closed(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        await enter_partner(pool, open_desk.clock)
        await run_programme(pool)
        here = f"/exchange-breaks/{await found_break(open_desk, uuid4())}"
        fin, kim = await open_desk.inside("fin", "finance:SG"), await open_desk.inside("kim", "finance:ID")
        twin = (await fin.twin("/exchange-books")).json()
        assert [each["kind"] for each in twin["breaks"]["value"]] == ["not-ours"]
        assert (await kim.twin("/exchange-books")).json()["breaks"]["value"] == []
        assert (await kim.see(here)).status_code == 404
        await fin.send(here, f"{here}/take")
        assert (await fin.twin(here)).json()["row"]["owner"] == "person:fin"
        wrong = await fin.send(here, f"{here}/close", reason="a test of theirs", correction="much")
        assert "is not a sum" in wrong.text
        await fin.send(here, f"{here}/close", reason="a test of theirs", correction="-0.07")
        twin = (await fin.twin("/exchange-books")).json()
        assert (twin["breaks"]["value"], twin["balances"]["value"][0]["balance"]) == ([], "-0.07")
        assert len((await fin.twin("/exchange-books?closed=1")).json()["breaks"]["value"]) == 1


async def test_months_invoices_and_payments(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        await enter_partner(pool, open_desk.clock)
        programme = await run_programme(pool)
        fin, sam = await open_desk.inside("fin", "finance:SG"), await open_desk.inside("sam", "support:SG")
        here, month = "/exchange-books/skymiles", str(Month.last_over(NOW, programme.zone))
        assert (await fin.see("/exchange-books/nothing")).status_code == 404
        assert (await sam.twin(here)).json()["may_keep"] is False
        wrong = await fin.send(here, f"{here}/bill", month="May")
        assert "is not a month" in wrong.text
        await fin.send(here, f"{here}/bill", month=month)
        invoice = {"invoice_month": month, "invoice_reference": "INV-7", "invoice_money": "31.50"}
        await fin.send(here, f"{here}/invoice", **invoice)
        payment = {"paid_month": month, "paid_reference": "T-1", "paid_money": "20", "paid_on": "2026-07-01"}
        await fin.send(here, f"{here}/pay", **payment)
        again = await fin.send(here, f"{here}/pay", **payment)
        assert "T-1 is entered already" in again.text
        twin = (await fin.twin(here)).json()
        assert (twin["paid"], twin["balance"]["balance"], twin["may_keep"]) == ({month: "20"}, "20", True)
        assert "differs" in (await fin.see(here)).text
        [found] = await BooksDesk(pool, open_desk.clock).breaks()
        assert (found.kind, found.about, found.ours, found.theirs) == (BreakKind.INVOICE, month, "0", "31.50")
