"""A multiplier is changed in a browser, by two people, and a transaction earns by it."""

import json
import re

import pytest
from playwright.async_api import Browser, expect

from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardReader
from tests.console.campaigning import cards
from tests.console.window import office


@pytest.mark.long
async def test_a_multiplier_is_changed_by_two_people(browser: Browser, pool: Pool) -> None:
    async with office(browser, pool) as open_office:
        await cards(open_office.desk)
        await open_office.desk.hire("ann", "country_editor:SG", "approver:SG")
        await open_office.desk.hire("ben", "approver:SG")
        async with open_office.window() as window:
            page = window.page
            await window.see("/rates")
            await window.sign_in("ann")
            await window.follow("SG")
            await window.follow("Draft one from SG@1")
            await page.get_by_label("In force from").fill("2027-03-01T00:00")
            # What changes is said, and the text follows, without a click.
            await page.get_by_label("food", exact=True).fill("4")
            await page.get_by_label("food", exact=True).press("Tab")
            await expect(page.locator("#verdict ins")).to_contain_text(["2027-03-01 00:00+08:00", "4"])
            await page.get_by_text("As text").click()
            text = page.get_by_label("The card, as TOML")
            await expect(text).to_have_value(re.compile('food = "4"'))
            # And the other way round, with the fault beside the field.
            await text.fill((await text.input_value()).replace('food = "4"', 'food = "-4"'))
            await text.press("Tab")
            await expect(page.get_by_label("food", exact=True)).to_have_attribute("aria-invalid", "true")
            await text.fill((await text.input_value()).replace('food = "-4"', 'food = "5"'))
            await text.press("Tab")
            await expect(page.locator("#verdict ins")).to_contain_text(["2027-03-01 00:00+08:00", "5"])
            await expect(page.get_by_label("food", exact=True)).to_have_value("5")
            await window.press("Submit for approval")
            await window.press("Submit for approval")
            address = page.url.removeprefix(window.url)
            assert "somebody else has to approve it" in await window.text()
        async with open_office.window() as window:
            page = window.page
            await window.see(address)
            await window.sign_in("ben")
            await page.get_by_role("button", name="Approve ").click()
            await expect(page.locator("main")).to_contain_text("done")
            await window.see("/rates/SG?version=2")
            assert "scheduled" in await window.text()
            await open_office.desk.rooms[CardReader].refresh()
            await window.follow("What does it earn?")
            await page.get_by_label("Vertical").select_option("food")
            await page.get_by_label("Payment").select_option("cash")
            await page.get_by_label("Amount").fill("10")
            await page.get_by_label("When").fill("2027-03-02T12:00")
            await window.press("Look")
            assert "50 GRP" in await window.text()
            assert "SG@2, scheduled from" in await window.text()


@pytest.mark.long
@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize(
    ("field", "value", "line"),
    [
        ("In force from", "2027-03-01T00:00", "effective_from"),
        ("food", "4", "verticals.food"),
        ("Rounding", "half up", "rounding"),
    ],
)
async def test_the_field_that_was_edited_last_is_in_what_is_submitted(
    browser: Browser, pool: Pool, field: str, value: str, line: str, *, scripts: bool
) -> None:
    """Nothing lies between the last key and the click."""
    async with office(browser, pool) as open_office:
        await cards(open_office.desk)
        await open_office.desk.hire("ann", "country_editor:SG")
        async with open_office.window(scripts=scripts) as window:
            await window.see("/rates-draft?of=SG")
            await window.sign_in("ann")
            await window.see("/rates-draft?of=SG")
            edited = window.page.get_by_label(field, exact=True)
            await (edited.select_option(value) if line == "rounding" else edited.fill(value))
            await window.press("Submit for approval")
            await window.press("Submit for approval")
            asked = (await open_office.desk.pool.fetchval("select document from approval")) or "{}"
            card = json.loads(asked)
            where, _, name = line.partition(".")
            assert str(card[where][name] if name else card[where]).startswith(value.replace(" ", "_"))
