"""`make pictures`: the pages of the console in a demo's house, as docs/country-teams/console.md shows them."""

import asyncio
import getpass
import json
import os
import socket
import sys
from typing import Final

import httpx
from playwright.async_api import Page

from tests.console.window import a_browser
from tests.support.paths import DOCS
from tests.support.shop import GRANT, award, free_port

FOLDER: Final = DOCS / "console"
_WIDTH: Final = 1280
_TALLEST: Final = 1400
_QUALITY: Final = 55
# The login and the machine are whose they are: a picture shows others.
_RENAME: Final = """names => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode())
    for (const [from, to] of names)
      walk.currentNode.data = walk.currentNode.data.replace(new RegExp("\\\\b" + from + "\\\\b", "g"), to);
}"""
# The pages, by the names of their pictures. Bob is the first member of the demo.
PAGES: Final = {
    "home": "/",
    "approvals": "/approvals",
    "members": "/members/bob",
    "rates": "/rates/SG",
    "rates-draft": "/rates-draft?of=SG",
    "rates-quote": "/rates-quote?country=SG&amount=10",
    "campaigns": "/campaigns",
    "campaigns-draft": "/campaigns-draft",
    "counters": "/counters",
    "partners": "/partners",
    "partner": "/partners/acme",
    "partner-requests": "/partners/acme/requests",
    "finance": "/finance",
    "month-close": "/finance/close/2026-06",
    "assumptions": "/finance/assumptions",
    "trust": "/trust",
    "operations": "/operations",
    "quarantine": "/quarantine?reason=invalid",
    "dead-letters": "/dead-letters",
    "where": "/where?key=bob",
    "errands": "/errands",
    "people": "/people",
    "log": "/log",
    "settings": "/settings",
}


async def _take(page: Page, url: str, name: str, path: str) -> None:
    await page.goto(url + path)
    await page.wait_for_selector("html[data-ready]", state="attached")
    await page.evaluate(_RENAME, [[getpass.getuser(), "operator"], [socket.gethostname(), "abacus-1"]])
    tall = await page.evaluate("document.documentElement.scrollHeight")
    clip = {"x": 0, "y": 0, "width": _WIDTH, "height": min(tall, _TALLEST)}
    await page.screenshot(
        path=FOLDER / f"{name}.jpg",
        type="jpeg",
        quality=_QUALITY,
        full_page=True,
        clip=clip,  # type: ignore[arg-type]  # a float rectangle
    )


async def _enter_a_partner(page: Page, url: str) -> str:
    """The demo has none. Returns its key."""
    await page.goto(f"{url}/partners")
    await page.get_by_text("Enter a partner").click()
    await page.get_by_label("Id", exact=True).fill("acme")
    await page.get_by_label("Name", exact=True).fill("Acme")
    async with page.expect_navigation():
        await page.get_by_role("button", name="Enter it, and show its key").click()
    return str(await page.locator(".notice [data-copied]").text_content())


async def _ask(api: str, key: str) -> None:
    """Some of it is refused."""
    async with httpx.AsyncClient(base_url=api, headers={"Authorization": f"Bearer {key}"}) as acme:
        for number, country in enumerate(("SG", "SG", "XX", "SG")):
            await award(acme, f"welcome-{number}", {**GRANT, "country": country, "points": 100 - 35 * number})


async def main() -> None:
    port = free_port()
    demo = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "abacus", "demo", "--console", "--json"),
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"ABACUS_API_PORT": str(port)},
    )
    assert demo.stdout is not None
    try:
        links: dict[str, str] = {}
        while not links:
            line = await demo.stdout.readline()
            if not line:
                raise SystemExit("the demo ended before its console was open")
            links = json.loads(line).get("console", {})
        FOLDER.mkdir(exist_ok=True)
        async with a_browser() as browser:
            page = await browser.new_page(viewport={"width": _WIDTH, "height": 800}, color_scheme="light")
            await page.goto(links["admin"])
            await page.get_by_role("button").first.click()
            await page.wait_for_url("**/")
            url = page.url.rstrip("/")
            await _ask(f"http://127.0.0.1:{port}", await _enter_a_partner(page, url))
            await asyncio.sleep(6)  # processes note themselves, and sums are written, every few seconds
            for name, path in PAGES.items():
                await _take(page, url, name, path)
    finally:
        demo.terminate()
        await demo.wait()


if __name__ == "__main__":
    asyncio.run(main())
