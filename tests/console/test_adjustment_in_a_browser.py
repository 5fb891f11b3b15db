"""Points that are added by hand, as people do it: asked for, refused to its author, approved by another, explained."""

import pytest
from playwright.async_api import Browser

from abacus.people.store.approvals import Approvals
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
            adjusting = window.page.locator("form[action$='/adjust']")
            await adjusting.get_by_label("Points").fill("50")
            await adjusting.get_by_label("Reason").fill("the driver was late")
            await window.press("Adjust")
            assert "need a second person" in await window.text()
            await window.follow("the approval")
            assert "somebody else has to approve it" in await window.text()
            assert await window.page.get_by_role("button", name="Approve").count() == 0
        assert await balance(pool) == 100
        async with open_office.window() as window:
            await window.see("/approvals")
            await window.sign_in("ben")
            [asked] = await open_office.desk.rooms[Approvals].all()
            await window.follow(asked.summary)
            await window.press(f"Approve {asked.digest[:8]}")
            await window.see(HERE)
            row = window.page.get_by_role("row").filter(has_text="+50")
            await row.locator("summary").click()
            assert "the driver was late" in await row.inner_text()
        assert await balance(pool) == 150
