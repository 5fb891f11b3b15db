"""A transaction that was set aside is replayed in a browser: chosen, looked at, confirmed, and sent on."""

import json

import pytest
from playwright.async_api import Browser, expect

from abacus.core.errors import Reason
from abacus.platform.quarantine.store import REPLAYED, QuarantineStore
from abacus.platform.quarantine.types import Item, Stage
from tests.console.errand_runner import running
from tests.console.window import office
from tests.support.house import House, completed


@pytest.mark.long
async def test_a_transaction_is_replayed(browser: Browser, house: House) -> None:
    sale = completed(1, member_id="bob", vertical="rides", amount="10.00")
    fault = "the card has no vertical"
    item = Item(Stage.TRANSACTION, "kafka:t/0/1", Reason.UNKNOWN_VERTICAL, fault, json.dumps(sale).encode())
    async with office(browser, house.pool) as open_office, running(open_office.desk, house):
        quarantine = open_office.desk.rooms[QuarantineStore]
        await quarantine.add([item])
        await open_office.desk.hire("olga", "operator")
        async with open_office.window() as window:
            page = window.page
            await window.see("/quarantine")
            await window.sign_in("olga")
            await page.get_by_role("checkbox").check()
            await window.press("Replay the ticked ones")
            assert "1 item of the quarantine" in await window.text()
            await window.press("Dry run")
            await expect(page.locator("main")).to_contain_text("GRP for bob", timeout=30_000)
            await page.get_by_label("How many items are these?").fill("1")
            await window.press("Replay 1")
            await expect(page.locator("main")).to_contain_text("1 sent on, 0 held again at once", timeout=30_000)
        held = await quarantine.get(item.id)
        assert held is not None
        assert held.status == REPLAYED
        entries = await house.pool.fetch("select actor from audit_log where deed = 'replay'")
        assert [each["actor"] for each in entries] == ["person:olga"]
