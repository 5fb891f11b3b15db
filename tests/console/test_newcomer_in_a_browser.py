"""A newcomer in a house without a rate card: let in, led by the first steps, until a partner's first award is seen."""

import shlex
from collections.abc import Mapping

import httpx
import pytest
from playwright.async_api import Browser, expect

from abacus.cli.house.free_ports import on_free_ports
from abacus.cli.people.console import first_link
from abacus.platform.settings import Settings
from abacus.pricing.store.cards import CardReader
from tests.console.steps import reload_until, search
from tests.console.window import Window, office
from tests.support.house import House, until


@pytest.mark.long
async def test_a_newcomer_sees_a_first_award(browser: Browser, bare_house: House) -> None:
    settings = on_free_ports(bare_house.settings)
    async with (
        office(browser, bare_house.pool) as open_office,
        bare_house.running("api", "awarder", settings=settings),
        open_office.window() as window,
    ):
        page, main, cards = window.page, window.page.locator("main"), open_office.desk.rooms[CardReader]
        await cards.refresh()
        await window.see("/")
        await page.get_by_text("I have no password, or no name").click()
        assert "a link that works once" in await window.text()
        # As `abacus up` prints it.
        link = await first_link(settings.model_copy(update={"console_public_url": open_office.desk.url}))
        assert link is not None
        await open_office.desk.refresh()
        await come_in(window, link, "admin")
        await window.follow("Let people in")
        link_of_cleo = await enter(window, "cleo", "country_editor:SG")
        async with open_office.window() as second:
            await come_in(second, link_of_cleo, "cleo")
            await second.follow("Say what a point is worth")
            await second.follow("Draft a card")
            await second.press("Submit for approval")
            await second.press("Submit for approval")
            assert "It waits for another person." in await second.text()
        await window.follow("Abacus")
        await window.follow("Rate card of SG")
        await page.get_by_role("button", name="Approve ").click()
        await expect(main).to_contain_text("done")
        await cards.refresh()
        await window.follow("Abacus")
        await window.follow("Let transactions come")
        await window.follow("Enter a partner")
        await page.get_by_label("Id", exact=True).fill("acme")
        await page.get_by_label("Name", exact=True).fill("Acme")
        await window.press("Go on")
        await window.press("Enter it, and show its key")
        await expect(main).to_contain_text("It is shown this once")
        assert await window.violations() == []
        await until(lambda: is_ready(settings))
        told = {"$KEY": await main.locator("[data-copied]").first.inner_text(), "$API": api_of(settings)}
        answer = await as_told(await main.locator("pre").inner_text(), told)
        assert answer.json()["status"] == "posted", answer.text
        await window.follow("Abacus")
        await reload_until(window, "100 points so far")
        assert "First steps" not in await window.text()
        await search(window, "bob")
        await window.follow("bob")
        row = page.get_by_label("Transfers by day").get_by_role("row").filter(has_text="Welcome")
        assert "+100" in await row.inner_text()


async def is_ready(settings: Settings) -> bool:
    """The API waits for the first card, and looks for one from time to time."""
    async with httpx.AsyncClient(trust_env=False) as client:
        return (await client.get(f"{api_of(settings)}/readyz")).is_success


async def come_in(window: Window, link: str, person_id: str) -> None:
    await window.see(link.removeprefix(window.url))
    await expect(window.page.locator("h1")).to_have_text(f"Sign in as {person_id}")
    await window.press("Sign in")


async def enter(window: Window, person_id: str, role: str) -> str:
    """The link that the page shows once."""
    page = window.page
    await window.follow("Enter a person")
    await page.get_by_label("Name to sign in with").fill(person_id)
    await page.get_by_label("In other countries").fill(role)
    await window.press("Go on")
    assert await window.violations() == []
    await window.press("Enter this person")
    await expect(page.locator("main")).to_contain_text("It is shown this once")
    assert await window.violations() == []
    return await page.locator("main [data-copied]").first.inner_text()


def api_of(settings: Settings) -> str:
    return f"http://{settings.api_host}:{settings.api_port}"


async def as_told(curl: str, stands_for: Mapping[str, str]) -> httpx.Response:
    """What the command would send that stands on the page."""
    for name, value in stands_for.items():
        curl = curl.replace(name, value)
    command, url, *words = shlex.split(curl)
    assert command == "curl"
    options = list(zip(words[::2], words[1::2], strict=True))
    headers = dict(word.split(": ", 1) for option, word in options if option == "-H")
    async with httpx.AsyncClient(timeout=60) as client:
        return await client.post(url, headers=headers, content=dict(options)["-d"])
