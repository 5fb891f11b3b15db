"""A country editor asks in a browser why a member does not get an offer, before anybody has approved it."""

import pytest
from playwright.async_api import Browser, expect

from abacus.engage.offers.desk import OfferDesk
from abacus.platform.postgres import Pool
from tests.console.campaigning import cards
from tests.console.window import office
from tests.people.approving import ANN
from tests.support.offers import document, run_offers


@pytest.mark.long
async def test_why_not_is_told_of_a_draft_of_a_version_and_of_all_offers(browser: Browser, pool: Pool) -> None:
    await run_offers(pool, document(), document(name="big_20", about="A fifth off much", price={"from": "50"}))
    async with office(browser, pool) as open_office:
        await cards(open_office.desk)
        await open_office.desk.hire("cleo", "country_editor:SG")
        offers = open_office.desk.rooms[OfferDesk]
        code = document(name="code_20", audience="code", code="LUNCH-1")
        await offers.propose(await offers.read(code, await offers.around()), ANN)
        async with open_office.window() as window:
            page, main = window.page, window.page.locator("main")
            await window.see("/offers")
            await window.sign_in("cleo")
            await window.follow("Which offers?")
            # By the keyboard alone: from field to field, and sent by the key that sends forms.
            await page.get_by_label("Categories").focus()
            await page.keyboard.type("food")
            await page.keyboard.press("Tab")
            await page.keyboard.type("twelve")
            async with page.expect_navigation():
                await page.keyboard.press("Enter")
            await window.ready()
            await expect(page.get_by_label("Price of a piece")).to_have_attribute("aria-invalid", "true")
            assert await window.violations() == []
            await page.get_by_label("Price of a piece").fill("12")
            await window.press("Look")
            await expect(page.get_by_role("row", name="lunch_20")).to_contain_text("2.40")
            await expect(page.get_by_role("row", name="big_20")).to_contain_text("A price of SGD 50.00 or more")
            assert await window.violations() == []
            await window.look("dark", 390)
            assert await window.violations() == []
            await window.look("light", 1280)
            # A version that waits for approval, by its own page.
            await window.see("/offers/code_20")
            await window.follow("Who gets it?")
            await page.get_by_label("Categories").fill("food")
            await page.get_by_label("Price of a piece").fill("12")
            await window.press("Look")
            await expect(main).to_contain_text("A code")
            await page.get_by_label("Code", exact=True).fill("LUNCH-1")
            await window.press("Look")
            await expect(page.get_by_role("row", name="code_20")).to_contain_text("9.60")
            # A draft that nobody else has seen, in its form.
            await window.see("/offers-draft?of=lunch_20&copy=yes")
            await page.get_by_label("Categories").last.fill("rides")
            await page.get_by_label("Price of a piece").last.fill("12")
            await window.press("Preview")
            await expect(main).to_contain_text("Not for this item")
            assert await window.violations() == []
