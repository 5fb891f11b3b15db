"""People, their sessions, and the log: for admins, and for each person its own."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from abacus.console.web.forms import DoneBefore, Form, once
from abacus.people.store.audit import entry_of, log, write
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool, nothing_else
from tests.console.campaigning import submitted
from tests.console.desk import desk, token_in

GIVEN = {"roles[]": "approver:SG\nsupport:SG"}


async def test_an_admin_gives_roles_disables_and_enables(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        eve, bob = await open_desk.inside("eve", "admin"), await open_desk.inside("bob", "viewer")
        assert (await eve.send("/people/bob", "/people/bob/roles", **GIVEN)).status_code == 303
        assert "bob is support in SG, approver in SG from now on." in (await eve.see("/people/bob")).text
        assert (await bob.twin("/me")).json()["roles"] == ["support:SG", "approver:SG"]
        assert (await eve.send("/people/bob", "/people/bob/disable")).status_code == 303
        assert (await bob.see("/me")).status_code == 303
        row = next(each for each in (await eve.twin("/people")).json()["people"] if each["person_id"] == "bob")
        assert (row["sessions"], row["disabled_at"] is not None) == (0, True)
        assert (await eve.send("/people/bob", "/people/bob/enable")).status_code == 303
        assert (await bob.see("/me")).status_code == 303  # its session has ended
        assert (await bob.sign_in("bob")).status_code == 303
        entries = await log(pool, deed=Deed.MANAGE_PEOPLE, subjects=["person:bob"])
        assert [each.actor for each in entries] == ["person:eve"] * 4
        for nobody in ("nobody", "%00", "Bob", "..%2Fbob"):
            assert (await eve.see(f"/people/{nobody}")).status_code == 404
        assert (await eve.see("/log?actor=%00&subject=%FF")).status_code == 200


@pytest.mark.parametrize("roles", ["", "king", "support:sg", "viewer <script>"])
async def test_roles_that_are_none_are_refused_beside_the_field(pool: Pool, roles: str) -> None:
    async with desk(pool) as open_desk:
        eve = await open_desk.inside("eve", "admin")
        await open_desk.hire("bob", "viewer")
        sent = await eve.send("/people/bob", "/people/bob/roles", **{"roles[]": roles})
        assert (sent.status_code, 'id="wrong-roles"' in sent.text) == (422, True)
        assert "<script>" not in sent.text


@pytest.mark.parametrize("role", ["viewer", "operator", "approver", "admin:SG"])
async def test_only_an_admin_manages_people_also_while_none_has_a_token(pool: Pool, role: str) -> None:
    async with desk(pool) as open_desk:
        bob = await open_desk.inside("bob", role)
        for path in ("/people", "/people/bob", "/log"):
            assert (await bob.see(path)).status_code == 403
            assert f'href="{path}"' not in (await bob.see("/me")).text
        token = token_in((await bob.see("/me")).text)
        for deed in ("roles", "disable", "enable", "end-sessions"):
            sent = await bob.client.post(f"/people/bob/{deed}", data={"form": token, "roles[]": "admin"})
            assert sent.status_code == 403
        assert (await bob.twin("/me")).json()["roles"] == [role]


async def test_a_person_ends_its_own_sessions_and_no_other_s(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        bob, eve = await open_desk.inside("bob", "viewer"), await open_desk.inside("eve", "viewer")
        others = [await open_desk.browser() for _ in range(3)]
        for each in others:
            await each.sign_in("bob")
        sessions = (await bob.twin("/me")).json()["sessions"]
        assert [each["is_this"] for each in sessions].count(True) == 1
        assert "digest" not in sessions[0]
        (eves,) = (await eve.twin("/me")).json()["sessions"]
        await bob.send("/me", "/me/sessions/end", prefix=eves["prefix"])
        assert (await eve.see("/me")).status_code == 200
        other = next(each for each in sessions if not each["is_this"])
        await bob.send("/me", "/me/sessions/end", prefix=other["prefix"])
        assert sum([(await each.see("/me")).status_code == 200 for each in others]) == 2
        await bob.send("/me", "/me/sessions/end", prefix="others")
        assert sum([(await each.see("/me")).status_code == 200 for each in others]) == 0
        assert (await bob.see("/me")).status_code == 200


@pytest.mark.long
async def test_the_log_is_filtered_and_goes_on_by_cursor(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        eve = await open_desk.inside("eve", "admin")
        for number in range(70):
            await open_desk.hire(f"p{number}", "viewer")
            browser = await open_desk.browser(f"192.0.2.{number}")
            await browser.sign_in(f"p{number}")
        first = (await eve.twin("/log?deed=sign-in")).json()["list"]
        second = (await eve.twin(first["more"])).json()["list"]
        assert (len(first["rows"]), len(second["rows"]), second["more"]) == (50, 21, None)
        one = (await eve.twin("/log?actor=person:p3&subject=person:p3")).json()
        assert [each["deed"] for each in one["list"]["rows"]] == ["sign-in"]
        assert one["command"] == "abacus people log --actor person:p3 --subject person:p3"
        assert (await eve.see("/log?deed=lie")).status_code == 422


async def test_the_log_is_narrowed_by_country_and_time(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        eve = await open_desk.inside("eve", "admin")
        now = datetime.now(UTC)
        entries = [entry_of("person:eve", Deed.ADJUST, f"member:{each}", now, country=each) for each in ("SG", "ID")]
        async with pool.acquire() as connection:
            await write(connection, entries)
        today = now.date()
        rows = (await eve.twin(f"/log?country=SG&from=2000-01-01&to={today}")).json()
        assert [each["subject"] for each in rows["list"]["rows"]] == ["member:SG"]
        assert rows["command"] == (
            "abacus people log --country SG --since 2000-01-01T00:00:00+00:00"
            f" --until {today + timedelta(days=1)}T00:00:00+00:00"
        )
        for none in ("from=2999-01-01", f"country=SG&to={today - timedelta(days=1)}"):
            assert (await eve.twin(f"/log?{none}")).json()["list"]["rows"] == []
        for wrong in ("country=sg", "country=%3Cscript%3E", "from=today", "to=2026-13-01", "kind=lie", "kind=member"):
            assert (await eve.see(f"/log?{wrong}")).status_code == 422


async def test_the_log_is_narrowed_by_names_and_says_sentences(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        eve = await open_desk.inside("eve", "admin")
        asked = await submitted(open_desk)
        async with pool.acquire() as connection:
            await write(connection, [entry_of("person:cleo", Deed.REVERSE, "member:bob", datetime.now(UTC))])
        by_name, by_kind = [(await eve.twin(f"/log?{each}subject=bob")).json() for each in ("", "kind=member&")]
        for found in (by_name, by_kind):
            assert [part["name"] for each in found["list"]["rows"] for part in each["says"] if part["kind"]] == ["bob"]
        assert (by_name["command"], by_kind["command"]) == (None, "abacus people log --subject member:bob")
        of_campaign = (await eve.twin("/log?kind=campaign&subject=market")).json()["list"]["rows"]
        assert f"approval:{asked.approval_id}" in [each["subject"] for each in of_campaign]
        page = (await eve.see("/log")).text
        assert 'asked for <a href="/approvals/' in page
        assert "campaign Bring people back, version 1</a>" in page
        assert 'took back points of <a href="/members/bob">bob</a>' in page


async def test_what_has_changed_is_of_the_person_s_countries(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await open_desk.inside("eve", "admin")
        bob, all_ = await open_desk.inside("bob", "viewer:SG"), await open_desk.inside("vic", "viewer")
        for who in (bob, all_):
            [changes] = [each for each in (await who.twin("/")).json()["cards"] if each["name"] == "changes"]
            assert changes["part"]["value"]["first"] == []  # who came and went is for admins


async def test_a_form_without_idempotency_of_its_room_takes_effect_once(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        form, happened = Form({"key": "6a0f9d3e-3f0e-4a8e-8a52-0f2f6c1c9b11"}), list[str]()

        async def send() -> None:
            also = once(form, "ann", open_desk.clock, nothing_else)
            async with pool.acquire() as connection, connection.transaction():
                await also(connection)
                happened.append("did")

        results = await asyncio.gather(send(), send(), send(), return_exceptions=True)
        assert happened == ["did"]
        assert [isinstance(each, DoneBefore) for each in results].count(True) == 2


async def test_rights_are_told_in_words_by_country(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        eve = await open_desk.inside("eve", "admin")
        await open_desk.hire("bob", "support:SG", "support:VN", "approver:VN")
        await open_desk.hire("gone", "approver")
        await eve.send("/people/gone", "/people/gone/disable")
        page = (await eve.twin("/people")).json()
        assert {each["where"]: each["who"] for each in page["approvers"]} == {
            "SG": ["eve"],
            "VN": ["bob", "eve"],
            "what is of no country: limits of partners, assumptions": ["eve"],
        }
        (row,) = [each for each in page["people"] if each["person_id"] == "bob"]
        assert row["is_"] == "support in SG and VN, approver in VN"
        bob = (await eve.twin("/people/bob")).json()
        rights = {each["what"]: each["where"] for each in bob["rights"]}
        assert (rights["adjust"], rights["approve"], "erase" in rights) == ("SG, VN", "VN", False)
        boxes = {value: held for each in bob["roles"] for value, held in each["boxes"]}
        assert [value for value, held in boxes.items() if held] == ["support:SG", "support:VN", "approver:VN"]
