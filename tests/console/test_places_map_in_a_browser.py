"""A country editor looks at the map in a browser, and clicks on it."""

import pytest
from playwright.async_api import Browser, expect

from abacus.platform.postgres import Pool
from abacus.signals.places.region_directory import RegionDirectory
from tests.console.campaigning import cards
from tests.console.window import office
from tests.support.offers import document, run_offers
from tests.support.town import load_town


@pytest.mark.long
async def test_a_click_on_the_map_tells_what_is_there(browser: Browser, pool: Pool) -> None:
    async with office(browser, pool) as open_office:
        desk = open_office.desk
        await cards(desk)
        await load_town(pool, desk.clock)
        await desk.rooms[RegionDirectory].refresh()
        await run_offers(pool, document(name="noodles_20", scope={"merchants": ["noodles"]}))
        desk.clock.pass_(minutes=1)  # it was approved since the desk was opened
        await desk.hire("cleo", "country_editor:SG")
        async with open_office.window() as window:
            page = window.page
            await window.see("/places/SG/map")
            await window.sign_in("cleo")
            await expect(page.locator("svg .area")).to_have_count(3)
            async with page.expect_navigation():
                await page.get_by_alt_text("Look at a point of the map").click(position={"x": 300, "y": 200})
            await window.ready()
            await expect(page.get_by_role("row", name="Noodle Bar")).to_contain_text("noodles_20: saves")
            await expect(page.locator("svg .pin")).to_have_count(1)
            assert await window.violations() == []
            await window.shoot("places-map-clicked")
            await window.follow("Nearer")
            await expect(page.locator("svg .area")).not_to_have_count(0)
