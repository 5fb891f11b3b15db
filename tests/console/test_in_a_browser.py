"""The console as its people use it, in a real browser: nothing off this host, nothing against the policy, WCAG AA."""

import re

import pytest
from playwright.async_api import Browser

from abacus.console.app import SERVED
from abacus.console.entry.decide.claims import ClaimRules, read_groups
from abacus.people.decide.names import parse_grants
from abacus.people.store.approvals import Approvals
from abacus.people.store.people import PeopleStore
from abacus.people.types.approval import ApprovalKind
from abacus.platform.postgres import Pool, nothing_else
from tests.console.addresses import address
from tests.console.furnished import furnished
from tests.console.identities import identities
from tests.console.window import Scheme, office
from tests.people.approving import Effects
from tests.support.staff import ADMIN

READING = ClaimRules("email", "groups", read_groups('{"sg-team": ["support:SG", "approver:SG"]}'))
LOOKS: list[tuple[Scheme, int]] = [("light", 1440), ("dark", 1280), ("light", 390), ("dark", 390)]
WIDE = 1440
_CUT_OFF = """() => [...document.querySelectorAll('.table')].filter((each) => each.scrollWidth > each.clientWidth + 1)
    .map((each) => each.getAttribute('aria-label'))"""


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
async def test_another_person_approves_what_the_author_cannot(browser: Browser, pool: Pool) -> None:
    async with office(browser, pool) as open_office:
        effects = Effects()
        open_office.desk.rooms[Approvals].carried_out_by(dict.fromkeys(ApprovalKind, effects))
        approval = await furnished(open_office.desk)
        for person in ("ann", "ben"):
            await open_office.desk.hire(person, "approver:SG")
        async with open_office.window() as window:
            await window.see(f"/approvals/{approval.approval_id}")
            await window.sign_in("ann")
            assert "somebody else has to approve it" in await window.text()
            assert await window.page.get_by_role("button", name="Approve").count() == 0
        async with open_office.window() as window:
            await window.see("/approvals")
            await window.sign_in("ben")
            await window.follow("Limits of the partner acme")
            await window.press("Approve")
            assert "done" in await window.text()
        assert len(effects.happened) == 1


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


@pytest.mark.long
@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_every_page_is_there_for_everybody(browser: Browser, pool: Pool, scheme: Scheme, width: int) -> None:
    """axe finds nothing, by daylight and in the dark; nothing is wider than a small screen, and a wide one cuts off no
    table.
    """
    async with office(browser, pool) as open_office:
        approval = await furnished(open_office.desk)
        await open_office.desk.hire("eve", "admin")
        async with open_office.window(scheme=scheme, width=width) as window:
            await window.see("/")
            assert await window.violations() == []
            await window.shoot(f"sign-in-{scheme}-{width}")
            await window.sign_in("eve")
            for served in SERVED:
                if served.method != "GET" or served.is_file:
                    continue
                path = address(served.path, approval)
                await window.see(path)
                assert (path, await window.violations()) == (path, [])
                wide = await window.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
                assert (path, wide) == (path, 0)
                cut = await window.page.evaluate(_CUT_OFF) if width >= WIDE else []
                assert (path, cut) == (path, [])
                await window.shoot(f"{_name_of(served.path)}-{scheme}-{width}")


def _name_of(path: str) -> str:
    """For the picture of a page."""
    return re.sub(r"{[^}]*}", "one", path).strip("/").replace("/", "-") or "home"
