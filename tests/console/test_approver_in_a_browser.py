"""An approver: reads what waits and why it takes two, approves one thing, and rejects another with a reason."""

import pytest
from playwright.async_api import Browser, expect

from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import ApprovalKind
from abacus.platform.postgres import Pool
from tests.console.campaigning import submitted
from tests.console.steps import arrived, go
from tests.console.window import office
from tests.people.approving import ANN, Effects, proposal


@pytest.mark.long
async def test_an_approver_reads_and_decides(browser: Browser, pool: Pool) -> None:
    async with office(browser, pool) as open_office:
        effects, desk = Effects(), open_office.desk
        await submitted(desk)
        await desk.partner("acme")
        room = desk.rooms[Approvals]
        room.carried_out_by({**dict.fromkeys(ApprovalKind, effects)})
        await room.ask(proposal(), ANN.agent)
        for person in ("ann", "ben"):
            await desk.hire(person, "approver:SG", "country_editor:SG")
        async with arrived(open_office, "ann") as window:
            assert "Nothing waits for you" in await window.text()
            await go(window, "Approvals")
            await window.follow("Limits of the partner acme")
            assert "somebody else has to approve it" in await window.text()
            assert await window.page.get_by_role("button", name="Approve").count() == 0
        async with arrived(open_office, "ben") as window:
            page, main = window.page, window.page.locator("main")
            await go(window, "Approvals")
            await window.follow("Limits of the partner acme")
            assert "The person who asked for it cannot approve it" in await window.text()
            assert await window.violations() == []
            await window.press("Approve")
            await expect(main.locator(".badge").first).to_have_text("done")
            await go(window, "Approvals")
            await window.follow("Bring people back")
            assert "award 500 points" in await window.text()
            await window.press("Reject")
            await expect(main).to_contain_text("Say why.")
            await page.get_by_label("Reason").fill("Five hundred is too dear")
            await window.press("Reject")
            await expect(main.locator(".badge").first).to_have_text("rejected")
            assert await window.violations() == []
            await window.follow("Abacus")
            assert "Nothing waits for you" in await window.text()
        assert len(effects.happened) == 1
        async with arrived(open_office, "ann") as window:
            await go(window, "Approvals")
            await window.follow("Bring people back")
            assert "Five hundred is too dear" in await window.text()
