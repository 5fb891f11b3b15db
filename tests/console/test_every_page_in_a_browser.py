"""Pages in a real browser. Each answers without scripts, has no control that does nothing, and fits on its screen. axe
finds nothing by daylight and in the dark, on a desk and on a phone: each kind of element is judged on one page, and the
night judges each page.
"""

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Final, TypeAlias

import pytest
from playwright.async_api import Browser

from abacus.console.app import SERVED
from abacus.console.web.navigation import SECTIONS
from abacus.people.types.approval import Approval
from abacus.platform.postgres import Pool
from tests.console.addresses import address
from tests.console.furnished import furnished
from tests.console.kinds import fewest, kinds
from tests.console.window import HEIGHT, Scheme, Window, office

Look: TypeAlias = tuple[Scheme, int, str, str]  # the last are the parts of the page that are judged: all, and colours

WIDE: Final = 1440
BETWEEN: Final = 1280
NARROW: Final = 390
# Each page is judged in the light on a desk and in the dark on a phone: so both colours of all that is on both. A phone
# has the menu's button besides, and a desk the open menu, which are the same on every page but for the mark of where
# one is. The first page is judged in every look, and so is that of who is signed in, whose name is marked there. On
# others neither a phone's frame nor the colours of a desk's are judged again. The night judges each page in every look.
CROSSED: Final[list[Look]] = [("light", WIDE, "html", "main"), ("dark", NARROW, "main", "main")]
EVERY: Final[list[Look]] = [
    *(("light", WIDE, "html", "html"), ("dark", NARROW, "html", "html")),
    *(("dark", WIDE, "html", "html"), ("light", NARROW, "html", "html"), ("dark", BETWEEN, "html", "html")),
]
_IN_EVERY_LOOK: Final = ("/", "/me")
_PARTS: Final = 2  # of all pages, so that two processes may share them
CUT_OFF: Final = """() => [...document.querySelectorAll(".table")]
    .filter((each) => each.scrollWidth > each.clientWidth + 1)
    .map((each) => each.getAttribute("aria-label"))"""
# Other states of pages, beside the one that their address has in `tests/console/addresses.py`.
MORE: Final = ("/members/nobody", "/rates-draft?of=SG", "/approvals?status=rejected", "/no-such-page")
# A link leads somewhere; a button sends its form; a field is in a form that can be sent; a summary opens.
IDLE: Final = """() => {
    const sends = (form) => form && (form.querySelector("button:not([type=button])")
        || form.querySelectorAll("input:not([type=hidden]):not([type=checkbox])").length === 1);
    const works = {
        A: (each) => each.hasAttribute("href"),
        BUTTON: (each) => each.type === "submit" && each.form,
        SUMMARY: (each) => each.parentElement.tagName === "DETAILS",
    };
    const all = "a, button, input:not([type=hidden]), select, textarea, summary, .search > kbd";
    return [...document.querySelectorAll(all)]
        .filter((each) => each.checkVisibility({visibilityProperty: true}))
        .filter((each) => !(works[each.tagName.toUpperCase()] || ((field) => sends(field.form)))(each))
        .map((each) => each.outerHTML.slice(0, 200));
}"""


def pages(approval: Approval) -> Iterator[tuple[str, str]]:
    """Every page there is, with a name for its picture."""
    for served in SERVED:
        if served.method == "GET" and not served.is_file:
            yield _name_of(served.path), address(served.path, approval)
    for path in MORE:
        yield _name_of(path), path


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_every_kind_of_element_is_there_for_everybody(browser: Browser, pool: Pool) -> None:
    """On the page where nobody is signed in, and on as few as have them all."""
    async with looked_at(browser, pool) as (window, approval):
        named = {path: name for name, path in pages(approval)}
        fullest = fewest({path: kinds(await window.markup(path)) for path in named})
        for path in dict.fromkeys((*_IN_EVERY_LOOK, *fullest)):
            await window.see(path)
            await stands(window, named[path], path, EVERY if path in _IN_EVERY_LOOK else CROSSED)


@pytest.mark.long
@pytest.mark.night
@pytest.mark.timeout(600)
@pytest.mark.parametrize("part", range(_PARTS))
async def test_every_page_is_there_for_everybody(browser: Browser, pool: Pool, part: int) -> None:
    async with looked_at(browser, pool) as (window, approval):
        for name, path in list(pages(approval))[part::_PARTS]:
            await window.see(path)
            await stands(window, name, path, EVERY)


@asynccontextmanager
async def looked_at(browser: Browser, pool: Pool) -> AsyncIterator[tuple[Window, Approval]]:
    """A window of a furnished house, in which an admin has signed in on a page that stands."""
    async with office(browser, pool) as open_office:
        approval = await furnished(open_office.desk)
        await open_office.desk.hire("eve", "admin")
        async with open_office.window() as window:
            await window.see("/")
            await stands(window, "sign-in", "/", EVERY)
            await window.sign_in("eve")
            yield window, approval


async def stands(window: Window, name: str, path: str, looks: list[Look]) -> None:
    """axe finds nothing in each of these looks, and the page fits."""
    for scheme, width, within, colours_of in looks:
        await window.look(scheme, width)
        at = (path, scheme, width)
        assert (at, await window.violations(within, colours_of=colours_of)) == (at, [])
        await window.shoot(f"{name}-{scheme}-{width}")
    await fits(window, path)


async def fits(window: Window, path: str) -> None:
    """The page is no wider than its screen, and a wide one cuts off no table."""
    for width in (NARROW, BETWEEN, WIDE):
        await window.page.set_viewport_size({"width": width, "height": HEIGHT})
        assert (path, width, await too_wide(window)) == (path, width, 0)
    assert (path, await window.page.evaluate(CUT_OFF)) == (path, [])


async def too_wide(window: Window) -> int:
    """The pixels by which the page is wider than its screen."""
    pixels: int = await window.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    return pixels


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_every_page_answers_without_scripts(browser: Browser, pool: Pool) -> None:
    async with office(browser, pool) as open_office:
        approval = await furnished(open_office.desk)
        await open_office.desk.hire("eve", "admin")
        async with open_office.window(scripts=False) as window:
            await window.see("/")
            assert await idle(window) == []
            await window.sign_in("eve")
            for name, path in pages(approval):
                await window.see(path)
                assert (path, await idle(window)) == (path, [])
                assert await window.text()
                await fits(window, path)
                await window.shoot(f"{name}-without-scripts")


def test_the_navigation_leads_to_pages_that_are_looked_at() -> None:
    assert {each.path for each in SECTIONS} <= {each.path for each in SERVED if each.method == "GET"}


async def idle(window: Window) -> list[str]:
    """The controls that do nothing without a script."""
    found: list[str] = await window.page.evaluate(IDLE)
    return found


def _name_of(path: str) -> str:
    return re.sub(r"{[^}]*}", "one", path).strip("/").replace("/", "-").replace("?", "-") or "home"
