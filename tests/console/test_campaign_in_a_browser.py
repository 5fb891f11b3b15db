"""A campaign is written in fields in a browser, and comes into force by another person."""

import pytest
from playwright.async_api import Browser, expect

from abacus.platform.postgres import Pool
from tests.console.campaigning import cards
from tests.console.window import office


@pytest.mark.long
async def test_a_campaign_is_written_in_fields_and_approved_by_another(browser: Browser, pool: Pool) -> None:
    async with office(browser, pool) as open_office:
        await cards(open_office.desk)
        await open_office.desk.hire("cleo", "country_editor:SG", "approver:SG")
        await open_office.desk.hire("dora", "approver:SG")
        async with open_office.window() as window:
            page, verdict = window.page, window.page.locator("#verdict")
            await window.see("/campaigns")
            await window.sign_in("cleo")
            await window.follow("Draft one")
            # Only what fits the variable is offered.
            await page.get_by_role("button", name="Add a condition").first.click()
            values = page.get_by_label("Value", exact=True)
            await expect(values).to_have_count(2)
            await values.nth(1).select_option("var.amount")
            comparison = page.get_by_label("Comparison").nth(1)
            await expect(comparison.locator("option", has_text="begins with")).to_have_count(0)
            async with page.expect_response("**/campaigns-draft"):
                await comparison.select_option("gte")
            await expect(comparison).to_have_value("gte")
            await page.get_by_label("With", exact=True).nth(1).fill("20")
            await page.get_by_label("With", exact=True).nth(1).press("Tab")
            await expect(verdict).to_contain_text("and var.amount is at least 20")
            await page.locator("button[value='remove:when.conditions[0]']").click()
            await expect(verdict).not_to_contain_text("var.vertical is food")
            # And what is typed as text is checked at once.
            await page.get_by_text("As text").click()
            text = page.get_by_label("The campaign, as TOML")
            good = await text.input_value()
            await text.fill(good.replace("points = 500", "points = 0"))
            await text.press("Tab")
            await expect(verdict).to_contain_text("0 is not between")
            await page.get_by_label("Points", exact=True).fill("500")
            await page.get_by_label("Points", exact=True).press("Tab")
            await expect(verdict).to_contain_text("award 500 points")
            assert await window.violations() == []
            await window.press("Submit for approval")
            assert "exactly this is submitted" in await window.text()
            assert await window.violations() == []
            await window.press("Submit for approval")
            address = page.url.removeprefix(window.url)
            assert "somebody else has to approve it" in await window.text()
        async with open_office.window() as window:
            await window.see(address)
            await window.sign_in("dora")
            await window.page.get_by_role("button", name="Approve ").click()
            await expect(window.page.locator("main")).to_contain_text("done")
            await window.see("/campaigns/third_order")
            assert "scheduled" in await window.text()
