"""A console that is served on loopback, and windows of a real browser that look at it."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, BrowserContext, Page, Request, async_playwright

from abacus.api.http.limits import HttpLimits
from abacus.api.server import bound, serve
from abacus.platform.postgres import Pool
from tests.console.desk import PASSWORD, Desk, desk

_NAMED: Final = "ABACUS_TEST_CHROMIUM"  # a browser has to be there; without it tests are skipped where there is none
_USUAL: Final = "/usr/bin/chromium"
_BROWSER: Final = os.environ.get(_NAMED, _USUAL if Path(_USUAL).exists() else None)
_SHOTS: Final = "ABACUS_TEST_SHOTS"  # a folder for pictures of each page
_AXE: Final = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")
# What is in order is left in the browser: that is many times more than what is not.
_RULES: Final = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}
_COLOURS: Final = "color-contrast"  # takes longer than all other rules together
_ALL: Final = {"runOnly": _RULES}
_ALL_BUT_COLOURS: Final = {"runOnly": _RULES, "rules": {_COLOURS: {"enabled": False}}}
_COLOURS_ALONE: Final = {"runOnly": {"type": "rule", "values": [_COLOURS]}}
_RUN_AXE: Final = """async ([within, rules]) => {
    const {violations} = await axe.run(within, {...rules, resultTypes: ['violations']});
    return violations.map(({id, nodes}) => ({id, html: nodes[0].html}));
}"""

# A browser that asks us about each request, to have it blocked, keeps nothing of what it has loaded.
_NOTHING_ELSEWHERE: Final = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
_ARGUMENTS: Final = ("--no-sandbox", "--disable-dev-shm-usage", _NOTHING_ELSEWHERE)

HEIGHT: Final = 900
Scheme = Literal["light", "dark"]


@dataclass
class Window:
    """A window of its own cookies. Whatever it asks for elsewhere is noted, and so is what goes wrong in it; no other
    host than this one can be reached.
    """

    page: Page
    context: BrowserContext
    url: str
    scripts: bool = True
    elsewhere: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    async def see(self, path: str) -> None:
        await self.page.goto(self.url + path)
        await self.ready()

    async def markup(self, path: str) -> str:
        """The HTML of a page that is only asked for, and not shown."""
        return await (await self.context.request.get(self.url + path)).text()

    async def ready(self) -> None:
        if self.scripts:
            await self.page.wait_for_selector("html[data-ready]", state="attached")

    async def sign_in(self, person_id: str, password: str = PASSWORD) -> None:
        """On the page that asks for it."""
        await self.page.get_by_label("Name").fill(person_id)
        await self.page.get_by_label("Password").fill(password)
        await self.press("Sign in")

    async def press(self, name: str) -> None:
        """A button by its words; returns when the next page is there."""
        async with self.page.expect_navigation():
            await self.page.get_by_role("button", name=name, exact=True).click()
        await self.ready()

    async def follow(self, name: str) -> None:
        """The first link by its words."""
        async with self.page.expect_navigation():
            await self.page.get_by_role("link", name=name).first.click()
        await self.ready()

    async def text(self) -> str:
        return await self.page.locator("main").inner_text()

    async def look(self, scheme: Scheme, width: int) -> None:
        """At the page as it is, by another light or on another screen."""
        await self.page.emulate_media(color_scheme=scheme)
        await self.page.set_viewport_size({"width": width, "height": HEIGHT})
        await self.page.evaluate("Promise.allSettled(document.getAnimations().map((each) => each.finished))")

    async def violations(self, within: str = "html", *, colours_of: str | None = None) -> list[str]:
        """What axe holds against the page, or a part of it; against colours in a part of that, where one is named."""
        if colours_of is None or colours_of == within:
            return await self._held_against(within, _ALL)
        rest = await self._held_against(within, _ALL_BUT_COLOURS)
        return rest + await self._held_against(colours_of, _COLOURS_ALONE)

    async def _held_against(self, within: str, rules: Mapping[str, object]) -> list[str]:
        if not await self.page.evaluate("'axe' in window"):
            await self.page.evaluate(_AXE)
        found: list[dict[str, str]] = await self.page.evaluate(_RUN_AXE, [within, rules])
        return [f"{each['id']}: {each['html'][:200]}" for each in found]

    async def shoot(self, name: str) -> None:
        """Keep a picture of the page, where somebody wants it."""
        if folder := os.environ.get(_SHOTS):
            await self.page.screenshot(path=f"{folder}/{name}.png", full_page=True)


@dataclass(frozen=True)
class Office:
    """The desk that is served, and the browser."""

    desk: Desk
    browser: Browser

    @asynccontextmanager
    async def window(
        self, *, scheme: Scheme = "light", width: int = 1280, elsewhere: tuple[str, ...] = (), scripts: bool = True
    ) -> AsyncIterator[Window]:
        """`elsewhere` names other origins that may be visited; without `scripts` none runs. Fails if anything went
        wrong in the window.
        """
        context = await self.browser.new_context(
            color_scheme=scheme,
            viewport={"width": width, "height": HEIGHT},
            timezone_id="Asia/Singapore",
            java_script_enabled=scripts,
        )
        window = Window(await context.new_page(), context, self.desk.url, scripts)
        allowed = {self.desk.url, *elsewhere}

        def look(request: Request) -> None:
            parts = urlsplit(request.url)
            if f"{parts.scheme}://{parts.netloc}" not in allowed:
                window.elsewhere.append(request.url)

        context.on("request", look)
        window.page.on("pageerror", lambda error: window.wrong.append(str(error)))
        window.page.on("console", lambda said: window.wrong.append(said.text) if _is_policy(said.text) else None)
        try:
            yield window
        finally:
            await context.close()
        assert (window.elsewhere, window.wrong) == ([], [])


def _is_policy(text: str) -> bool:
    return "Content Security Policy" in text or "Refused to" in text


@asynccontextmanager
async def office(browser: Browser, pool: Pool, **how: Any) -> AsyncIterator[Office]:
    listener = bound("127.0.0.1", 0, "tests")
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with desk(pool, url=url, **how) as open_desk:
        stop = asyncio.Event()
        serving = asyncio.create_task(serve(open_desk.app, listener, stop, HttpLimits()))
        try:
            yield Office(open_desk, browser)
        finally:
            stop.set()
            await serving


@asynccontextmanager
async def a_browser() -> AsyncIterator[Browser]:
    if _BROWSER is None:
        pytest.skip(f"there is no browser at {_USUAL}; {_NAMED} names another one")
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=_BROWSER, args=_ARGUMENTS)
        try:
            yield opened
        finally:
            await opened.close()
