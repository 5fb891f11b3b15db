"""What is typed in a browser while an answer is on its way is neither lost nor overwritten by that answer."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, Page, Route, expect

from abacus.platform.postgres import Pool
from tests.console.campaigning import cards
from tests.console.window import Window, office

DRAFT = "/campaigns-draft"


class Held:
    """Answers to what the page sends, which are held back until they are let go."""

    def __init__(self) -> None:
        self._free = asyncio.Event()
        self.waiting = asyncio.Event()

    async def take(self, route: Route) -> None:
        answer = await route.fetch()
        self.waiting.set()
        await self._free.wait()
        await route.fulfill(response=answer)

    def let_go(self) -> None:
        self._free.set()


@asynccontextmanager
async def drafting(browser: Browser, pool: Pool) -> AsyncIterator[Window]:
    async with office(browser, pool) as open_office:
        await cards(open_office.desk)
        await open_office.desk.hire("cleo", "country_editor:SG")
        async with open_office.window() as window:
            await window.see(DRAFT)
            await window.sign_in("cleo")
            yield window


async def hold(page: Page) -> Held:
    held = Held()
    await page.route(f"**{DRAFT}", held.take)
    return held


@pytest.mark.long
async def test_a_field_keeps_what_was_typed_while_a_row_was_added(browser: Browser, pool: Pool) -> None:
    async with drafting(browser, pool) as window:
        page, name = window.page, window.page.get_by_label("Name", exact=True)
        held = await hold(page)
        await page.get_by_role("button", name="Add a condition").first.click()
        await held.waiting.wait()
        await name.fill("lunch_hour")
        held.let_go()
        await expect(page.get_by_label("Comparison")).to_have_count(2)
        await expect(name).to_have_value("lunch_hour")
        await name.press("Tab")
        await page.get_by_text("As text").click()
        await expect(page.get_by_label("The campaign, as TOML")).to_have_value(re.compile("lunch_hour"))


@pytest.mark.long
async def test_the_text_keeps_what_was_typed_while_a_field_was_checked(browser: Browser, pool: Pool) -> None:
    async with drafting(browser, pool) as window:
        page = window.page
        await page.get_by_text("As text").click()
        text = page.get_by_label("The campaign, as TOML")
        held = await hold(page)
        await page.get_by_label("What it is for").fill("Lunch")
        await page.get_by_label("What it is for").press("Tab")
        await held.waiting.wait()
        await text.press("Control+End")
        await text.type("# mine")
        held.let_go()
        await expect(text).to_have_value(re.compile('about = "Lunch"'))
        await expect(text).to_have_value(re.compile("# mine"))
