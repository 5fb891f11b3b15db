"""An operator from the alarm to the all clear, with nothing but what is on the screen."""

from uuid import uuid4

import pytest
from playwright.async_api import Browser, expect

from abacus.platform.postgres import Pool
from abacus.platform.presence.presence_note import Presence
from abacus.platform.presence.types import ProcessNote, Report, WorkerNote
from tests.console.desk import Desk
from tests.console.steps import arrived, go
from tests.console.window import office

WAIT_MS = 30_000


async def start(open_desk: Desk, *workers: str) -> None:
    now = open_desk.clock.now()
    report = Report({each: WorkerNote("ready", "") for each in workers}, {}, {}, None)
    await Presence(open_desk.pool, open_desk.clock).note(ProcessNote(uuid4(), "host", 7, "1", now, now, report.text))


@pytest.mark.long
async def test_an_outage_from_alarm_to_all_clear(browser: Browser, pool: Pool) -> None:
    async with office(browser, pool) as open_office:
        await open_office.desk.hire("olga", "operator")
        await start(open_office.desk, "calculator")
        async with arrived(open_office, "olga") as window:
            assert "The awarder does not run" in await window.text()
            await window.follow("What to do")
            main = window.page.locator("main")
            await expect(main).to_contain_text("None is lost")
            await window.page.get_by_text("What to do", exact=True).first.click()
            await expect(main).to_contain_text("abacus worker awarder")
            assert await window.violations() == []
            await start(open_office.desk, "awarder")
            await expect(main).to_contain_text("All clear since", timeout=WAIT_MS)
            await expect(main).to_contain_text("Over by now")
            assert await window.violations() == []
            await go(window, "Quarantine")
            await expect(main).to_contain_text("All clear: nothing is set aside")
            await window.follow("Abacus")
            await expect(main).to_contain_text("All clear since")


@pytest.mark.long
async def test_a_phone_has_a_menu_without_a_script(browser: Browser, pool: Pool) -> None:
    async with office(browser, pool) as open_office, open_office.window(width=390, scripts=False) as window:
        await open_office.desk.hire("olga", "operator")
        await window.see("/")
        await window.sign_in("olga")
        page = window.page
        head = await page.locator("header").bounding_box()
        assert head is not None
        assert head["height"] < 80
        await page.get_by_text("Menu").click()
        await page.get_by_role("link", name="Quarantine").click()
        await expect(page.locator("h1")).to_have_text("Quarantine")
