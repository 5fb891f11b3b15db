"""A journey is written node by node in a browser: its picture follows, and faults stand at their boxes."""

import pytest
from playwright.async_api import Browser, expect

from abacus.engage.journeys.desk import JourneyDesk
from abacus.people.store.approvals import Approvals
from abacus.platform.postgres import Pool
from tests.console.campaigning import cards
from tests.console.steps import change, choose, part, write
from tests.console.window import office
from tests.documents.samples import JOURNEYS
from tests.engage.journeys.trip import Trip
from tests.people.approving import ANN, BEN


@pytest.mark.long
async def test_a_journey_is_written_node_by_node_and_submitted(browser: Browser, pool: Pool) -> None:
    async with office(browser, pool) as open_office:
        await cards(open_office.desk)
        await open_office.desk.hire("cleo", "country_editor:SG")
        async with open_office.window() as window:
            page, picture = window.page, window.page.locator("#picture")
            await window.see("/journeys")
            await window.sign_in("cleo")
            await window.follow("Draft one")
            # A box leads to the fields of its node, which open.
            await picture.get_by_role("link", name="thanks").click()
            await expect(part(window, "thanks").get_by_label("Points", exact=True)).to_be_visible()
            await expect(part(window, "hello")).not_to_be_visible()
            # A node is added, and what it lacks stands at its box.
            await page.get_by_label("Another node").fill("pause")
            await change(window, "Add a node to Nodes")
            await expect(picture.get_by_role("link", name="pause")).to_contain_text("to mend")
            await choose(window, "What happens here", "the member waits", part(window, "pause"))
            await write(window, "How long", "1d", part(window, "pause"))
            await expect(picture.get_by_role("link", name="pause")).to_contain_text("waits 1d")
            await choose(window, "Then", "through", part(window, "pause"))
            await picture.get_by_role("link", name="thanks").click()
            await choose(window, "Then", "pause", part(window, "thanks"))
            await expect(picture).not_to_contain_text("to mend")
            assert await window.violations() == []
            await change(window, "Undo")
            await expect(picture.get_by_role("link", name="pause")).to_contain_text("to mend")
            await picture.get_by_role("link", name="thanks").click()
            await choose(window, "Then", "pause", part(window, "thanks"))
            await window.press("Submit for approval")
            assert "exactly this is submitted" in await window.text()
            await window.press("Submit for approval")
            assert "It waits for another person" in await window.text()
            await expect(page.locator(".picture")).to_contain_text("waits 1d")


@pytest.mark.long
async def test_counts_follow_in_the_picture_and_on_a_phone_while_somebody_looks(browser: Browser, pool: Pool) -> None:
    async with office(browser, pool) as open_office:
        rooms = open_office.desk.rooms
        await cards(open_office.desk)
        await open_office.desk.hire("cleo", "country_editor:SG")
        submitted, approval = await rooms[JourneyDesk].propose(await rooms[JourneyDesk].read(JOURNEYS.document), ANN)
        await rooms[Approvals].approve(approval.approval_id, BEN, approval.digest)
        async with open_office.window() as window:
            page, counts = window.page, window.page.locator("#members")
            await window.see("/journeys/welcome")
            await window.sign_in("cleo")
            await page.locator(".picture a").last.focus()
            focused = await page.evaluate("document.activeElement.getAttribute('href')")
            await Trip(pool, submitted.document).enter(1, 2)
            await expect(counts.locator(".picture")).to_contain_text("2 wait")
            assert await page.evaluate("document.activeElement.getAttribute('href')") == focused
            await window.look("light", 390)
            await Trip(pool, submitted.document).enter(3)
            await expect(counts.locator(".stops")).to_contain_text("3 wait here now")
