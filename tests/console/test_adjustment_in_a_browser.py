"""Points that are added by hand, as people do it: asked for, refused to its author, approved by another, explained."""

import pytest
from playwright.async_api import Browser

from abacus.platform.postgres import Pool
from tests.console.one_member import HERE, balance, opened
from tests.console.window import office


@pytest.mark.long
async def test_a_large_adjustment_takes_two_people(browser: Browser, pool: Pool) -> None:
    async with office(browser, pool) as open_office:
        await opened(pool, open_office.desk)
        await open_office.desk.hire("ann", "support", "approver")
        await open_office.desk.hire("ben", "approver")
        async with open_office.window() as window:
            await window.see(HERE)
            await window.sign_in("ann")
            await window.follow("Adjust")
            await window.page.get_by_label("Points").fill("50")
            await window.page.get_by_label("Reason").select_option("another reason")
            await window.page.get_by_label("In your words").fill("the driver was late")
            await window.press("Go on")
            changes = window.page.get_by_role("row").filter(has_text="Balance")
            assert (await changes.inner_text()).split() == ["Balance", "100", "150"]
            assert await window.violations() == []
            await window.press("Adjust")
            assert "a second person has to agree" in await window.text()
            await window.follow("Look at the approval")
            assert "somebody else has to approve it" in await window.text()
            assert await window.page.get_by_role("button", name="Approve").count() == 0
        assert await balance(pool) == 100
        async with open_office.window() as window:
            await window.see("/approvals")
            await window.sign_in("ben")
            await window.follow("+50 GRP for bob, SG")
            assert "Balance of GRP\t100\t150" in await window.text()
            await window.press("Approve")
            await window.see(HERE)
            timeline = window.page.get_by_label("Transfers by day")
            row = timeline.get_by_role("row").filter(has_text="adjusted by")
            await row.locator("summary").click()
            assert "the driver was late" in await row.inner_text()
        assert await balance(pool) == 150
