"""People, their sessions, and the log: for admins, and for each person its own."""

import asyncio
import json
import re
from datetime import UTC, datetime, timedelta

import pytest

from abacus.console.web.forms import DoneBefore, Form, once
from abacus.people.store.audit import entry_of, log, write
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool, nothing_else
from tests.console.campaigning import submitted
from tests.console.desk import desk, token_in

NEW = {"person": "bob", "roles.elsewhere": "support:SG", "way": "link-60"}


async def test_an_admin_gives_roles_disables_and_enables(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        eve, bob = await open_desk.inside("eve", "admin"), await open_desk.inside("bob", "viewer")
        given = await eve.do("/people/bob/roles", **{"roles.elsewhere": "approver:SG, support:SG"})
        assert given.status_code == 303
        assert "bob is support in SG, approver in SG from now on." in (await eve.see("/people/bob")).text
        assert (await bob.twin("/me")).json()["roles"] == ["support:SG", "approver:SG"]
        assert (await eve.send("/people/bob/disable", "/people/bob/disable", sure="do")).status_code == 303
        assert (await bob.see("/me")).status_code == 303
        row = next(each for each in (await eve.twin("/people")).json()["people"] if each["person_id"] == "bob")
        assert (row["sessions"], row["disabled_at"] is not None) == (0, True)
        assert (await eve.send("/people/bob", "/people/bob/enable")).status_code == 303
        assert (await bob.see("/me")).status_code == 303  # its session has ended
        assert (await bob.sign_in("bob")).status_code == 303
        entries = await log(pool, deed=Deed.MANAGE_PEOPLE, subjects=["person:bob"])
        assert [each.actor for each in entries] == ["person:eve"] * 3
        for nobody in ("nobody", "%00", "Bob", "..%2Fbob"):
            assert (await eve.see(f"/people/{nobody}")).status_code == 404
        assert (await eve.see("/log?actor=%00&subject=%FF")).status_code == 200


async def test_a_person_is_entered_and_gets_in_by_what_is_shown_once(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        eve = await open_desk.inside("eve", "admin")
        looked = await eve.send("/people-enter", "/people-enter", **{f"doc.{name}": text for name, text in NEW.items()})
        twin = (await eve.twin("/people")).json()
        assert (looked.status_code, [each["person_id"] for each in twin["people"]]) == (200, ["eve"])
        assert "support:SG" in looked.text
        entered = await eve.confirm(looked, sure="do")
        [address] = re.findall(r"http://console.example/sign-in/link\?token=abl_\w{55}", entered.text)
        assert (await eve.confirm(looked, sure="do")).status_code == 422, "sent twice, entered once"
        assert await pool.fetchval("select count(*) from console_link") == 1
        assert address not in (await eve.see("/people/bob")).text
        bob = await open_desk.browser()
        link = address.removeprefix(open_desk.url)
        assert (await bob.send(link, "/sign-in/link")).status_code == 303
        assert (await bob.twin("/me")).json()["roles"] == ["support:SG"]
        made = await eve.do("/people/bob/way-in", way="password")
        [password] = re.findall(r"<code data-copied>(\w{43})</code>", made.text)
        assert (await bob.see("/me")).status_code == 303, "another password ends sessions"
        assert (await bob.sign_in("bob", password)).status_code == 303
        entries = await log(pool, deed=Deed.MANAGE_PEOPLE, subjects=["person:bob"])
        assert [json.loads(each.details)["did"] for each in entries] == ["password", "link", "create"]
        assert {each.actor for each in entries} == {"person:eve"}


async def test_an_authenticator_is_given_and_taken_away(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        eve = await open_desk.inside("eve", "admin")
        await open_desk.hire("bob", "viewer")
        made = await eve.do("/people/bob/way-in", way="authenticator")
        assert "otpauth://totp/" in made.text
        bob = await open_desk.browser()
        assert (await bob.sign_in("bob")).status_code == 403
        assert (await eve.send("/people/bob", "/people/bob/remove-authenticator")).status_code == 303
        assert (await bob.sign_in("bob")).status_code == 303
        assert (await eve.twin("/people/bob")).json()["has_authenticator"] is False


@pytest.mark.parametrize(
    ("typed", "field", "says"),
    [
        ({"person": ""}, "person", "Fill this in."),
        ({"person": "Bob"}, "person", "small letters"),
        ({"person": "eve"}, "person", "already"),
        ({"person": "<script>"}, "person", "is not allowed"),
        ({"roles.elsewhere": ""}, "roles", "Tick at least one"),
        ({"roles.elsewhere": "king"}, "roles.elsewhere", "no role is called"),
        ({"roles.elsewhere": "support:sg"}, "roles.elsewhere", "is not a country"),
        ({"roles.elsewhere": "", "roles.support[]": "VN"}, "roles", "Tick at least one"),
        ({"way": ""}, "way", "Fill this in."),
        ({"way": "authenticator"}, "way", "choose one of the list"),
        ({"way": "token"}, "way", "choose one of the list"),
    ],
)
async def test_what_is_wrong_with_a_new_person_stands_at_its_field(
    pool: Pool, typed: dict[str, str], field: str, says: str
) -> None:
    async with desk(pool) as open_desk:
        eve = await open_desk.inside("eve", "admin")
        sent = {f"doc.{name}": text for name, text in (NEW | typed).items()}
        answer = await eve.send_for_twin("/people-enter", "/people-enter", **sent, sure="do")
        assert (answer.status_code, list(answer.json()["faults"]["at"])) == (422, [field])
        assert says in answer.json()["faults"]["at"][field][0]
        assert await pool.fetchval("select count(*) from person") == 1


async def test_roles_are_ticked_by_country_and_told_from_what_to_what(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        eve = await open_desk.inside("eve", "admin")
        await open_desk.hire("bob", "support:SG", "support:VN", "approver")
        typed = {"doc.roles.support[]": "VN", "doc.roles.approver[]": "all"}
        looked = (await eve.send_for_twin("/people/bob/roles", "/people/bob/roles", **typed)).json()
        told = [(each["where"], each["was"], each["now"]) for each in looked["changes"]]
        assert told == [("Roles · Support", "SG, VN", "VN")]
        await eve.do("/people/bob/roles", **{"roles.support[]": "VN", "roles.approver[]": "all"})
        assert (await eve.twin("/people/bob")).json()["person"]["roles"] == ["support:VN", "approver"]


async def test_the_last_admin_does_not_shut_itself_out(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        eve = await open_desk.inside("eve", "admin")
        refused = await eve.send("/people/eve/disable", "/people/eve/disable", sure="do")
        given = await eve.do("/people/eve/roles", **{"roles.support[]": "all"})
        for answer in (refused, given):
            assert (answer.status_code, "no admin would be left" in answer.text) == (422, True)
        assert (await eve.see("/people")).status_code == 200


@pytest.mark.parametrize("role", ["viewer", "operator", "approver", "admin:SG"])
async def test_only_an_admin_manages_people_also_while_none_has_a_token(pool: Pool, role: str) -> None:
    async with desk(pool) as open_desk:
        bob = await open_desk.inside("bob", role)
        forms = ("/people-enter", "/people/bob/roles", "/people/bob/way-in", "/people/bob/disable")
        for path in ("/people", "/people/bob", "/log", *forms):
            assert (await bob.see(path)).status_code == 403
            assert f'href="{path}"' not in (await bob.see("/me")).text
        token = token_in((await bob.see("/me")).text)
        acts = ("enable", "end-sessions", "remove-authenticator")
        for path in (*forms, *(f"/people/bob/{act}" for act in acts)):
            typed = {"doc.person": "bob", "doc.roles.admin[]": "all", "doc.way": "password", "sure": "do"}
            sent = await bob.client.post(path, data={"form": token, **typed})
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


@pytest.mark.parametrize(
    ("path", "log"),
    [
        ("/campaigns/market", "/log?kind=campaign&amp;subject=market"),
        ("/rates/SG", "/log?kind=card&amp;subject=SG"),
        ("/people/eve", "/log?kind=person&amp;subject=eve"),
        ("/campaigns", None),
        ("/partners/nobody", None),
    ],
)
async def test_the_page_of_a_thing_leads_to_its_log(pool: Pool, path: str, log: str | None) -> None:
    async with desk(pool) as open_desk:
        eve, ann = await open_desk.inside("eve", "admin"), await open_desk.inside("ann", "viewer")
        await submitted(open_desk)
        assert ((log or "/log?kind=") in (await eve.see(path)).text) == (log is not None)
        assert "/log?kind=" not in (await ann.see(path)).text


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
        await eve.send("/people/gone/disable", "/people/gone/disable", sure="do")
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
