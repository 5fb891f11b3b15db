"""Finance closes a month with nothing but what is on the screen: from the accounts to the files."""

from datetime import UTC, date, datetime
from typing import Final

import pytest
from playwright.async_api import Browser, expect

from abacus.ledger.store.post import PostgresLedger
from abacus.oversight.reports.decide.rollforward import SIGNS
from abacus.pricing.store.cards import CardReader
from tests.console.errand_runner import running
from tests.console.window import Office, Window, office
from tests.oversight.reconcile.reconciling import published, send_stamped
from tests.support.fixed_clock import FixedClock
from tests.support.house import House, completed, until
from tests.support.neighbours import neighbours_are_through
from tests.support.sealing import earned

WAIT_MS: Final = 90_000
MAY, JUNE = datetime(2026, 5, 10, 4, tzinfo=UTC), datetime(2026, 6, 10, 4, tzinfo=UTC)
CHOSEN: Final = {"Points": "GRP", "Country": "SG", "Currency": "SGD"}
COST: Final = {
    "In force from": "2026-01-01",
    "Expected use": "97%",
    "Cost of a point": "0.008",
    "Reason": "a study",
}


async def two_months(house: House) -> None:
    """An award of May that lapsed with its end, and two transactions of June, as the workers did them then."""
    lapsed = earned("old", 1)._replace(occurred_at=MAY, expires_on=date(2026, 5, 31))
    await PostgresLedger(house.pool, FixedClock(MAY)).post([lapsed])
    async with house.running("calculator", "awarder", "relay", clock=FixedClock(JUNE)):
        rides = [completed(number, occurred_at=JUNE.isoformat()) for number in (1, 2)]
        await send_stamped(house, [(JUNE, each) for each in rides])

        async def done() -> bool:
            return await house.transfers() == 3 and await published(house)

        await until(done)


async def open_month(window: Window) -> None:
    await window.follow("Reports and months")
    await window.page.get_by_label("Month", exact=True).fill("2026-06")
    await window.press("Open the month")


async def approve(of: Office, title: str) -> None:
    async with of.window() as window:
        await window.see("/")
        await window.sign_in("dora")
        await window.follow("Approvals")
        await window.follow(title)
        assert await window.violations() == []
        await window.press("Approve")


async def ask_for_cost(window: Window) -> None:
    await window.follow("Set another version")
    for label, value in CHOSEN.items():
        await window.page.get_by_label(label, exact=True).select_option(value)
    for label, value in COST.items():
        await window.page.get_by_label(label, exact=True).fill(value)
    await window.press("Go on")
    await window.press("Ask for it")


@pytest.mark.long
@pytest.mark.timeout(400)
async def test_a_month_is_closed(browser: Browser, house: House) -> None:
    await two_months(house)
    async with (
        office(browser, house.pool) as of,
        running(of.desk, house, ABACUS_CLOSES_NEED_APPROVAL="true"),
        house.running("expirer"),
        of.window() as window,
    ):
        await of.desk.rooms[CardReader].refresh()
        await of.desk.hire("fay", "finance")
        await of.desk.hire("dora", "approver")
        page, main = window.page, window.page.locator("main")
        await window.see("/")
        await window.sign_in("fay")
        await open_month(window)
        assert "Next: Accounts of the journal" in await window.text()
        await window.follow("Publish the accounts")
        await window.follow("Draft a set")
        for kind in SIGNS:
            await page.locator(f'[name="doc.{kind}.debit"]').fill(f"6100 {kind}")
            await page.locator(f'[name="doc.{kind}.credit"]').fill("2400 points")
        await window.press("Publish")
        assert "exactly this is submitted" in await window.text()
        await window.press("Publish")
        assert "all.all@1 is published." in await window.text()
        await open_month(window)
        assert "Next: Cost of a point" in await window.text()
        await window.follow("Say what a point costs")
        await ask_for_cost(window)
        await approve(of, "Assumptions for GRP, SG")
        await open_month(window)
        assert "SG: the end of 2026-05 has not run" in await window.text()
        await window.press("Run what is due")
        await expect(main).to_contain_text("points of 1 account lapsed with the end of 2026-05", timeout=WAIT_MS)
        assert await window.violations() == []
        await neighbours_are_through(house.pool)
        await window.press("Seal the ledger")
        await expect(main).to_contain_text("Seal 1: ", timeout=WAIT_MS)
        await window.press("Account for 2026-06")
        await expect(main).to_contain_text("2 messages: 2 awarded", timeout=WAIT_MS)
        await window.press("Review 2026-06")
        await expect(main).to_contain_text("Nothing stands in the way.", timeout=WAIT_MS)
        await window.press("Have another person sign 2026-06")
        await expect(main).to_contain_text("Waits for another person, who signs.", timeout=WAIT_MS)
        await approve(of, "Close of 2026-06")
        await open_month(window)
        assert "The books of 2026-06 are signed." in await window.text()
        assert await window.violations() == []
        await window.shoot("month-closed")
        async with page.expect_download() as downloading:
            await page.get_by_role("link", name="journal-2026-06.csv").first.click()
        journal = (await (await downloading.value).path()).read_text(encoding="utf-8")
        assert journal.startswith("entry,date,account,")
        assert len(journal.splitlines()) == 3
