"""A member is erased by whoever types its id once more, for real, and no page names it afterwards."""

from dataclasses import replace

import pytest

from abacus.console.app import console_app
from abacus.console.wiring import environments
from abacus.ledger.store.read import LedgerReader
from abacus.platform.health import Health
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from tests.console.desk import desk
from tests.console.errand_runner import running
from tests.console.one_member import HERE, asked, done, opened, place
from tests.support.house import House, until
from tests.support.sealing import fill

TYPED = {"confirm": "bob", "reason": "asked by letter"}


@pytest.mark.long
async def test_a_member_is_erased_and_its_errand_with_it(house: House) -> None:
    pool = house.pool
    await fill(pool, "bob", transfers=1)
    async with desk(pool) as open_desk, running(open_desk, house):
        eve = await open_desk.inside("eve", "operator")
        sent = await done(eve, "erase", **TYPED)
        assert sent.headers["location"] == "/erasures"
        assert "You asked for it." in (await eve.see("/erasures")).text

        async def is_erased() -> bool:
            return bool(await pool.fetchval("select count(*) from erasure"))

        await until(is_erased)
        [erasure] = (await eve.twin("/erasures")).json()["erasures"]["value"]
        assert (erasure["erased_by"], erasure["reason"]) == ("person:eve", "asked by letter")
        assert await LedgerReader(pool).accounts("bob") == []
        assert await pool.fetchval("select count(*) from console_errand") == 0
        assert "bob" not in (await eve.see("/erasures")).text
        assert "bob" not in (await eve.see("/log")).text


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"confirm": "Bob"}, "confirm"),
        ({"confirm": ""}, "confirm"),
        ({"reason": ""}, "reason"),
        ({"reason": "bob asked for it"}, "reason"),
        ({"reason": "x" * 201}, "reason"),
    ],
)
async def test_nothing_is_erased_by_mistake(pool: Pool, typed: dict[str, str], field: str) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        eve = await open_desk.inside("eve", "operator")
        refused = await asked(eve, "erase", **TYPED | typed)
        assert (refused.status_code, f'id="wrong-{field}"' in refused.text) == (422, True)
        assert await pool.fetchval("select count(*) from console_errand") == 0


@pytest.mark.parametrize(("role", "offers"), [("operator", True), ("support", False), ("operator:SG", False)])
async def test_it_takes_the_role_in_all_countries(pool: Pool, role: str, offers: bool) -> None:  # noqa: FBT001  # a column
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        who = await open_desk.inside("eve", role)
        page = (await who.see(HERE)).text
        assert (place("erase") in page, "abacus members erase bob" in page) == (offers, not offers)
        token = page.partition('name="form" value="')[2].partition('"')[0]
        sent = await who.client.post(
            place("erase"), data=TYPED | {"sure": "do", "form": token, "key": "6f1f2f39-3a4e-5d0a-9a55-5b1a6a0c7a11"}
        )
        assert sent.status_code == (303 if offers else 403)


async def test_a_console_without_the_login_names_the_command(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        eve = await open_desk.inside("eve", "operator")
        without = replace(open_desk, app=console_app(replace(open_desk.premises, erases=False), Health(["console"])))
        other = await without.browser()
        await other.sign_in("eve")
        page = (await other.see(HERE)).text
        assert (place("erase") in page, "abacus members erase bob" in page) == (False, True)
        token = page.partition('name="form" value="')[2].partition('"')[0]
        sent = await other.client.post(
            place("erase"), data=TYPED | {"sure": "do", "form": token, "key": "6f1f2f39-3a4e-5d0a-9a55-5b1a6a0c7a11"}
        )
        assert (sent.status_code, "not given the login" in sent.text) == (422, True)
        assert eve is not other


def test_the_owners_login_is_for_erasing_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABACUS_CONSOLE_OWNER_DATABASE_URL", "postgresql://owner@db/abacus")
    settings = Settings(database_url="postgresql://app@db/abacus")
    every, for_erasing = environments(settings)
    assert "postgresql://owner@db/abacus" not in every.values()
    assert every["ABACUS_DATABASE_URL"] == "postgresql://app@db/abacus"
    assert for_erasing == {"ABACUS_DATABASE_URL": "postgresql://owner@db/abacus"}
    monkeypatch.delenv("ABACUS_CONSOLE_OWNER_DATABASE_URL")
    assert environments(Settings(database_url="postgresql://app@db/abacus"))[1] == {}
