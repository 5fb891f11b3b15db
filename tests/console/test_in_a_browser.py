"""The console as its people use it, in a real browser: nothing off this host, and nothing against the policy."""

import pytest
from playwright.async_api import Browser

from abacus.console.entry.decide.claims import ClaimRules, read_groups
from abacus.people.decide.names import parse_grants
from abacus.people.store.people import PeopleStore
from abacus.platform.postgres import Pool, nothing_else
from tests.console.identities import identities
from tests.console.window import office
from tests.support.staff import ADMIN

READING = ClaimRules("email", "groups", read_groups('{"sg-team": ["support:SG", "approver:SG"]}'))


async def test_who_signs_in_comes_to_the_page_that_was_asked_for(browser: Browser, pool: Pool) -> None:
    async with office(browser, pool) as open_office, open_office.window() as window:
        await open_office.desk.hire("eve", "admin")
        await window.see("/people")
        await window.sign_in("eve", "not the password")
        assert "That does not fit" in await window.text()
        assert await window.page.get_by_label("Name").input_value() == "eve"
        await window.sign_in("eve")
        assert window.page.url.endswith("/people")
        await window.press("Sign out")
        await window.see("/people")
        assert "Sign in" in await window.text()


@pytest.mark.long
async def test_a_session_that_is_ended_elsewhere_is_ended_here(browser: Browser, pool: Pool) -> None:
    async with office(browser, pool) as open_office, open_office.window() as here, open_office.window() as there:
        await open_office.desk.hire("eve", "viewer")
        for window in (here, there):
            await window.see("/me")
            await window.sign_in("eve")
        await there.see("/me")
        await there.press("End all others")
        await here.see("/me")
        assert "Sign in" in await here.text()


async def test_a_role_that_is_taken_away_counts_at_the_next_click(browser: Browser, pool: Pool) -> None:
    async with office(browser, pool) as open_office, open_office.window() as window:
        await open_office.desk.hire("root", "admin")
        await open_office.desk.hire("eve", "admin")
        await window.see("/people")
        await window.sign_in("eve")
        assert "eve" in await window.text()
        people = open_office.desk.rooms[PeopleStore]
        await people.give_roles("eve", parse_grants(["viewer"]), by=ADMIN, also=nothing_else)
        await open_office.desk.refresh()
        await window.see("/people")
        assert "takes the role" in await window.text()
        assert await window.page.get_by_role("link", name="People").count() == 0


async def test_a_provider_vouches_for_somebody(browser: Browser, pool: Pool) -> None:
    async with identities() as provider:
        provider.claims = {"email": "kim@example.com", "email_verified": True, "groups": ["sg-team"]}
        how = {"issuer": provider.issuer, "reading": READING}
        elsewhere = (provider.issuer,)
        async with office(browser, pool, **how) as opened, opened.window(elsewhere=elsewhere) as window:
            await window.see("/approvals")
            async with window.page.expect_navigation(url="**/approvals"):
                await window.page.get_by_role("link", name="Sign in with your organisation").click()
            await window.ready()
            assert await window.page.get_by_role("link", name="kim@example.com").count() == 1
