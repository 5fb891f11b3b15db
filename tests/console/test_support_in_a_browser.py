"""Support: a member is found by the beginning of its id, an award is explained, and points are added by two people."""

import pytest
from playwright.async_api import Browser, Locator, expect

from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardReader, CardStore
from tests.console.desk import Desk
from tests.console.one_member import balance
from tests.console.steps import arrived, go, search
from tests.console.window import Window, office
from tests.support.cards import SINGAPORE
from tests.support.sealing import fill

MEMBER = "8f3a-bob"


@pytest.mark.long
async def test_support_finds_explains_and_adjusts_with_a_second_person(browser: Browser, pool: Pool) -> None:
    async with office(browser, pool) as open_office:
        await earned(open_office.desk)
        before = await balance(pool, MEMBER)
        await open_office.desk.hire("ann", "support", "approver")
        await open_office.desk.hire("ben", "approver")
        async with arrived(open_office, "ann") as window:
            page = window.page
            # A mistyped id credits nobody.
            await search(window, "8f3b")
            assert "Nothing found that you may see" in await window.text()
            await search(window, "8f3a")
            await window.follow(MEMBER)
            award = transfers(window).filter(has_text="earn")
            await award.locator("summary").click()
            assert "the same" in await award.inner_text()
            await window.follow("Adjust")
            await page.get_by_label("Points").fill("50")
            await page.get_by_label("Reason").select_option("another reason")
            await page.get_by_label("In your words").fill("the driver was late")
            await window.press("Go on")
            changes = page.get_by_role("row").filter(has_text="Balance")
            assert (await changes.inner_text()).split() == ["Balance", f"{before}", f"{before + 50}"]
            assert await window.violations() == []
            await window.press("Adjust")
            assert "a second person has to agree" in await window.text()
            await window.follow("Look at the approval")
            assert "somebody else has to approve it" in await window.text()
            assert await page.get_by_role("button", name="Approve").count() == 0
        assert await balance(pool, MEMBER) == before
        async with arrived(open_office, "ben") as window:
            await go(window, "Approvals")
            await window.follow(MEMBER)
            assert f"Balance of GRP\t{before}\t{before + 50}" in await window.text()
            await window.press("Approve")
            await expect(window.page.locator("main .badge").first).to_have_text("done")
        async with arrived(open_office, "ann") as window:
            await search(window, "8f3a")
            await window.follow(MEMBER)
            row = transfers(window).filter(has_text="adjusted by")
            await row.locator("summary").click()
            assert "the driver was late" in await row.inner_text()
        assert await balance(pool, MEMBER) == before + 50


async def earned(open_desk: Desk) -> None:
    """A meal of the member, priced by a card that is there."""
    await CardStore(open_desk.pool).publish(SINGAPORE, by="tests", now=open_desk.clock.now())
    await open_desk.rooms[CardReader].refresh()
    await fill(open_desk.pool, MEMBER, transfers=1)


def transfers(window: Window) -> Locator:
    return window.page.get_by_label("Transfers by day").get_by_role("row")
