"""A month is closed in a browser: checked, what may be accepted accepted, signed, and its files taken."""

import pytest
from playwright.async_api import Browser, expect

from abacus.core.clock import SystemClock
from abacus.oversight.reports.decide.rollforward import SIGNS
from abacus.people.store.approvals import Approvals
from abacus.pricing.store.cards import CardReader
from abacus.proof.store import Seals
from tests.console.errand_runner import running
from tests.console.window import office
from tests.support.house import House
from tests.support.sealing import fill

WAIT_MS = 60_000


@pytest.mark.long
async def test_a_month_is_closed(browser: Browser, house: House) -> None:
    async with office(browser, house.pool) as open_office, running(open_office.desk, house):
        await open_office.desk.rooms[CardReader].refresh()
        await fill(house.pool, "bob", "eve", transfers=1)
        await Seals(house.pool, SystemClock()).make()
        await open_office.desk.hire("fay", "finance")
        await open_office.desk.hire("dora", "approver")
        async with open_office.window() as window:
            page, main = window.page, window.page.locator("main")
            await window.see("/finance/assumptions")
            await window.sign_in("fay")
            for label, value in {
                "Points": "GRP",
                "Country": "SG",
                "Currency": "SGD",
                "In force from": "2026-01-01",
                "Expected use": "97%",
                "Cost of a point": "0.008",
                "Reason": "a study",
            }.items():
                await page.get_by_label(label, exact=True).fill(value)
            await window.press("Ask for it")
            [asked] = await open_office.desk.rooms[Approvals].all()
            async with open_office.window() as other:
                await other.see(f"/approvals/{asked.approval_id}")
                await other.sign_in("dora")
                await other.press("Approve")
            await window.see("/finance/accounts")
            await window.follow("Draft a set")
            for kind in SIGNS:
                await page.locator(f'[name="doc.{kind}.debit"]').fill(f"6100 {kind}")
                await page.locator(f'[name="doc.{kind}.credit"]').fill("2400 points")
            await window.press("Publish")
            assert "exactly this is submitted" in await window.text()
            await window.press("Publish")
            await window.see("/finance/accounts")
            assert "6100 issued" in await window.text()
            await window.see("/finance")
            await page.get_by_label("Month").fill("2026-06")
            await window.press("Open its checklist")
            assert "not checked" in await window.text()
            await window.press("Check")
            await expect(main).to_contain_text("not shown; run", timeout=WAIT_MS)
            assert await page.get_by_role("button", name="Sign 2026-06").count() == 0
            await page.get_by_label("reconcile").check()
            await page.get_by_label("Reason").fill("no stream in this house")
            open_office.desk.clock.pass_(seconds=1)  # it stands still, and the newest check counts
            await window.press("Check")
            await expect(page.get_by_role("button", name="Sign 2026-06")).to_be_visible(timeout=WAIT_MS)
            await window.press("Sign 2026-06")
            await expect(main).to_contain_text("person:fay", timeout=WAIT_MS)
            await expect(main).to_contain_text("Take the close back")
            async with page.expect_download() as downloading:
                await page.get_by_role("link", name="journal-2026-06.csv").first.click()
            journal = (await (await downloading.value).path()).read_text(encoding="utf-8")
            assert journal.startswith("entry,date,account,")
