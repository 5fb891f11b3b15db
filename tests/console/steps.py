"""Steps that flows share: each finds its way by what is on the screen."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from playwright.async_api import Locator, expect

from tests.console.window import Office, Window

WAIT_MS: Final = 60_000  # for a command that runs beside the pages
_IN_FLIGHT: Final = re.compile("htmx-request")


@asynccontextmanager
async def arrived(open_office: Office, person_id: str, **how: Any) -> AsyncIterator[Window]:
    """A person who typed the console's address, and signed in."""
    async with open_office.window(**how) as window:
        await window.see("/")
        await window.sign_in(person_id)
        await expect(window.page.locator("h1")).to_have_text("Home")
        yield window


async def go(window: Window, place: str) -> None:
    """By the navigation."""
    async with window.page.expect_navigation():
        await window.page.get_by_role("navigation", name="Pages").get_by_role("link", name=place, exact=True).click()
    await window.ready()


async def search(window: Window, text: str) -> None:
    field = window.page.get_by_role("searchbox", name="Search")
    await field.fill(text)
    async with window.page.expect_navigation():
        await field.press("Enter")
    await window.ready()


async def reload_until(window: Window, text: str) -> None:
    """For what comes by itself, within seconds."""
    async with asyncio.timeout(WAIT_MS / 1000):
        while text not in await window.text():
            await window.page.reload()
            await window.ready()


async def write(window: Window, label: str, text: str, within: Locator | None = None) -> None:
    """Into a field of a draft, which is checked at once; the first one of that label."""
    field = (within or window.page.locator("main")).get_by_label(label, exact=True).first
    async with window.page.expect_response("**-draft"):
        await field.fill(text)
        await field.press("Tab")
    await _has_answered(window)


async def choose(window: Window, label: str, option: str, within: Locator | None = None) -> None:
    """As `write` does, of a list."""
    async with window.page.expect_response("**-draft"):
        await (within or window.page.locator("main")).get_by_label(label, exact=True).first.select_option(label=option)
    await _has_answered(window)


async def change(window: Window, button: str, within: Locator | None = None) -> None:
    """A row of a draft is added, moved or removed."""
    async with window.page.expect_response("**-draft"):
        await (within or window.page.locator("main")).get_by_role("button", name=button, exact=True).first.click()
    await _has_answered(window)


def part(window: Window, legend: str) -> Locator:
    """The innermost part of a form under this legend."""
    return window.page.get_by_role("group", name=legend, exact=True).last


async def _has_answered(window: Window) -> None:
    await expect(window.page.locator("#busy")).not_to_have_class(_IN_FLIGHT)
