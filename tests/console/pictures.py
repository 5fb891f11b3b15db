"""`make pictures`: the pages of the console in a demo's house, as docs/country-teams/console.md shows them."""

import asyncio
import getpass
import json
import socket
import sys
from datetime import UTC, datetime
from typing import Final

from playwright.async_api import Page

from abacus.programs.expiry.decide.month import Month
from tests.console.window import a_browser
from tests.support.paths import DOCS

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
# The pages, by the names of their pictures. Bob is the first member of the demo, and the last month can be closed.
PAGES: Final = {
    "home": "/",
    "approvals": "/approvals",
    "members": "/members/bob",
    "rates": "/rates/SG",
    "rates-draft": "/rates-draft?of=SG",
    "rates-quote": "/rates-quote?country=SG&amount=10",
    "campaigns": "/campaigns",
    "campaigns-draft": "/campaigns-draft",
    "journeys": "/journeys/welcome",
    "journeys-draft": "/journeys-draft?of=lapsing",
    "journeys-report": "/journeys/lapsing/report",
    "journeys-where": "/journeys/welcome/where?member=bob",
    "counters": "/counters",
    "partners": "/partners",
    "partner": "/partners/acme",
    "partner-requests": "/partners/acme/requests",
    "finance": "/finance",
    "month-close": f"/finance/close/{Month.of(datetime.now(UTC).date()).before}",
    "assumptions": "/finance/assumptions",
    "trust": "/trust",
    "operations": "/operations",
    "quarantine": "/quarantine?reason=unknown-vertical",
    "dead-letters": "/dead-letters",
    "where": "/where?key=bob",
    "tasks": "/tasks",
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


async def main() -> None:
    demo = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "abacus", "demo", "--console", "--json"),
        stdout=asyncio.subprocess.PIPE,
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
            await asyncio.sleep(6)  # processes note themselves, and sums are written, every few seconds
            for name, path in PAGES.items():
                await _take(page, url, name, path)
    finally:
        demo.terminate()
        await demo.wait()


if __name__ == "__main__":
    asyncio.run(main())
