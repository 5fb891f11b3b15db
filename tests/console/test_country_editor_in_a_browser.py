"""A country editor from an idea to a campaign that runs, without a line of text in a language of machines."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from playwright.async_api import Browser, expect

from abacus.pricing.store.cards import CardReader
from tests.console.errand_runner import running
from tests.console.steps import WAIT_MS, arrived, change, choose, go, part, search, write
from tests.console.window import Window, office
from tests.support.house import House, completed, until

NAME = "friday_meals"
MEAL = {"vertical": "food", "member_id": "bob"}


@pytest.mark.long
@pytest.mark.timeout(400)
async def test_an_idea_becomes_a_campaign_that_awards(browser: Browser, house: House) -> None:
    async with office(browser, house.pool) as open_office, running(open_office.desk, house):
        desk = open_office.desk
        await desk.rooms[CardReader].refresh()
        await desk.hire("cleo", "country_editor:SG")
        await desk.hire("dora", "approver:SG")
        yesterday = (desk.clock.now() - timedelta(days=1)).astimezone(ZoneInfo("Asia/Singapore"))
        async with arrived(open_office, "cleo") as window:
            await go(window, "Campaigns")
            await window.follow("Draft one")
            await write_campaign(window, f"{yesterday:%Y-%m-%dT%H:%M}")
            assert await window.violations() == []
            # What would it do?
            await window.press("Check")
            await window.press("Simulate")
            await expect(window.page.locator("main")).to_contain_text("The event is done", timeout=WAIT_MS)
            await window.press("Submit for approval")
            assert "exactly this is submitted" in await window.text()
            await window.press("Submit for approval")
            assert "pending" in await window.text()
        async with arrived(open_office, "dora") as window:
            await go(window, "Approvals")
            await window.follow("A good meal")
            assert "25 points" in await window.text()
            await window.press("Approve")
            await expect(window.page.locator("main")).to_contain_text("done")
        now = datetime.now(UTC).isoformat()
        async with house.running("calculator", "awarder", "relay", "campaigner"):
            await house.produce([completed(1, **MEAL, amount="30.00", occurred_at=now)])
            await house.produce([completed(2, **MEAL, amount="3.00", occurred_at=now)])

            async def is_awarded() -> bool:
                return await house.transfers() == 3

            await until(is_awarded)
        async with arrived(open_office, "cleo") as window:
            await go(window, "Campaigns")
            row = window.page.get_by_role("row").filter(has_text=NAME)
            assert "running" in await row.inner_text()
            await window.follow(NAME)
            done = window.page.get_by_label("By day, arm and outcome").get_by_role("row").filter(has_text="done")
            assert (await done.inner_text()).split()[-2:] == ["1", "25"]
            await search(window, "bob")
            await window.follow("bob")
            assert NAME in await window.text()


async def write_campaign(window: Window, starts: str) -> None:
    """At least 20 for a meal: 25 points and a message, at most twice for each member."""
    page, verdict = window.page, window.page.locator("#verdict")
    await write(window, "Name", NAME)
    await write(window, "What it is for", "A good meal")
    await write(window, "Starts", starts)
    await change(window, "Add a condition to If")
    added = page.get_by_role("group", name="Condition").last
    await choose(window, "Value", "amount (decimal)", added)
    await choose(window, "Comparison", "is at least", added)
    await write(window, "With", "20", added)
    await expect(verdict).to_contain_text("is at least 20")
    step = part(window, "Step 1")
    await choose(window, "At which event", "at each", step)
    await write(window, "Points", "25", step)
    await change(window, "Add a deed to What is done", step)
    deed = part(window, "Deed 2")
    await choose(window, "What is done", "tell the member", deed)
    await write(window, "Title", "Enjoy your meal", deed)
    await write(window, "Text", "{{points}} points are yours.", deed)
    await expect(verdict).to_contain_text("tell the member “Enjoy your meal”")
    await write(window, "For each member", "2", part(window, "Runs"))
    await expect(verdict).to_contain_text("2 runs for each member")
