"""The pages of members: what they show and to whom, and points that are moved through them, once."""

from datetime import UTC, datetime, time, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from abacus.platform.postgres import Pool
from tests.console.desk import desk
from tests.console.one_member import HERE, REASON, adjusted, asked, balance, done, opened, place
from tests.support.hooks import award, post
from tests.support.hooks import partner as hooked

SCRIPT = "<script>alert(1)</script>"


async def test_a_large_adjustment_is_refused_to_its_author_and_approved_by_another(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        ann = await open_desk.inside("ann", "support", "approver")
        ben = await open_desk.inside("ben", "approver")
        looked = await asked(ann, "adjust", account="GRP", points="50", **REASON)
        assert "need a second person" in looked.text
        shown = await ann.see(await adjusted(ann, "50"))
        assert "a second person has to agree" in shown.text
        (approval,) = (await ann.twin("/approvals")).json()["list"]["rows"]
        there = f"/approvals/{approval['approval_id']}"
        assert f'href="{there}"' in shown.text
        of_member = (await ann.twin(HERE)).json()["approvals"]["value"]
        assert [each["approval_id"] for each in of_member] == [approval["approval_id"]]
        assert await balance(pool) == 100
        own = await ann.twin(there)
        assert own.json()["why_not"]
        assert f"{there}/approve" not in (await ann.see(there)).text
        assert (await ben.send(there, f"{there}/approve")).status_code == 303
        assert await balance(pool) == 150


async def test_a_form_that_is_confirmed_twice_adjusts_once(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        ann = await open_desk.inside("ann", "support")
        looked = await asked(ann, "adjust", account="GRP", points="5", **REASON)
        assert await balance(pool) == 100, "looking at what comes of it does nothing"
        for points, status in (("5", 303), ("5", 303), ("6", 422)):
            assert (await ann.confirm(looked, sure="do", points=points)).status_code == status
        assert await balance(pool) == 105


@pytest.mark.parametrize(
    ("act", "typed", "effects", "said"),
    [
        ("adjust", {"points": "5"}, [("Balance", "100", "105")], "+5 GRP, the balance is 105."),
        ("adjust", {"points": "-5"}, [("Balance", "100", "95")], "-5 GRP, the balance is 95."),
        ("spend", {"points": "30", "reason": "a reward"}, [("Balance", "100", "70")], "-30 GRP, the balance is 70."),
        (
            "hold",
            {"points": "30", "span": "900", "reason": "a purchase"},
            [("Balance", "100", "100"), ("Held", "0", "30"), ("Available", "100", "70")],
            "hold, the balance is 100.",
        ),
        (
            "reverse",
            {"transfer": "txn:rides:bob", "points": "10", "reason": "cancelled"},
            [("Balance", "100", "90")],
            "-10 GRP, the balance is 90.",
        ),
    ],
)
async def test_what_comes_of_it_is_said_before_and_after(
    pool: Pool, act: str, typed: dict[str, str], effects: list[tuple[str, str, str]], said: str
) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        ann = await open_desk.inside("ann", "support")
        typed = {"account": "GRP", **REASON, **typed}
        looked = (await ann.send_for_twin(place(act), place(act), **typed)).json()
        assert [(each["name"], each["before"], each["after"]) for each in looked["effects"]] == effects
        sent = await done(ann, act, **typed)
        assert (sent.status_code, sent.headers["location"]) == (303, HERE)
        assert said in (await ann.see(HERE)).text


async def test_pending_points_are_shown_apart_and_cannot_be_spent(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        ann = await open_desk.inside("ann", "support")
        at = datetime.combine((open_desk.clock.now() + timedelta(days=14)).date(), time(), UTC)
        await post(pool, award("txn:rides:later", 40)._replace(vests_on=at.date(), vests_at=at))
        (account,) = (await ann.twin(HERE)).json()["accounts"]["value"]
        assert (account["balance"], account["pending"]) == (140, 40)
        page = (await ann.see(HERE)).text
        assert "40 pending, 100 available" in page
        assert f"can be spent from {at.date()} on" in page
        typed = {"transfer": "txn:rides:later", "points": "10", "reason": "cancelled"}
        looked = (await ann.send_for_twin(place("reverse"), place("reverse"), **typed)).json()
        assert [(each["name"], each["before"], each["after"]) for each in looked["effects"]] == [
            ("Balance", "140", "130"),
            ("Pending", "40", "30"),
            ("Available", "100", "100"),
        ]
        refused = await asked(ann, "spend", account="GRP", points="101", reason="a reward")
        assert "The account has 1 points too few." in refused.text


async def test_points_are_held_captured_released_and_taken_back(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        ann = await open_desk.inside("ann", "support")
        for act in ("capture", "release"):
            await done(ann, "hold", account="GRP", points="30", span="900", reason="a purchase")
            (held,) = (await ann.twin(HERE)).json()["holds"]["value"]
            assert held["points"] == 30
            typed = {"hold": held["hold_id"]} | ({"points": "20"} if act == "capture" else {})
            assert (await done(ann, act, **typed)).status_code == 303
        page = (await ann.twin(HERE)).json()
        assert page["holds"]["value"] == []
        assert [each["kind"] for each in rows_of(page)] == ["release", "hold", "spend", "hold", "earn"]
        assert await balance(pool) == 80
        taken = await done(ann, "reverse", transfer="txn:rides:bob", reason="cancelled")
        assert taken.status_code == 303
        assert "a second person has to agree" in (await ann.see(HERE)).text
        assert await balance(pool) == 80


@pytest.mark.parametrize(
    ("typed", "wrong"),
    [
        ({"points": "many"}, {"points"}),
        ({"points": ""}, {"points"}),
        ({"points": "9" * 30}, {"points"}),
        ({"points": "-101"}, {"points"}),
        ({"reason": ""}, {"reason"}),
        ({"reason": "no such"}, {"details"}),
        ({"reason": "other", "details": ""}, {"details"}),
        ({"points": "x", "details": "y" * 201}, {"points", "details"}),
        ({"account": "XX"}, {"account"}),
        ({"account": "new:XX"}, {"account"}),
    ],
)
async def test_what_was_typed_is_kept_beside_what_is_wrong(pool: Pool, typed: dict[str, str], wrong: set[str]) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        ann = await open_desk.inside("ann", "support")
        given = {"account": "GRP", "points": "5", **REASON, **typed}
        sent = await asked(ann, "adjust", **given)
        assert sent.status_code == 422
        assert f'value="{given["points"]}"' in sent.text
        assert {
            name for name in ("account", "points", "reason", "details") if f'id="wrong-{name}"' in sent.text
        } == wrong
        assert await balance(pool) == 100


async def test_what_was_typed_can_be_changed_before_it_is_done(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        ann = await open_desk.inside("ann", "support")
        looked = await asked(ann, "adjust", account="GRP", points="7", **REASON)
        back = await ann.confirm(looked, sure="change")
        assert (back.status_code, 'value="7"' in back.text, 'name="sure"' in back.text) == (200, True, False)
        assert await balance(pool) == 100


async def test_a_member_of_another_country_is_as_good_as_nobody(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        eve = await open_desk.inside("eve", "support:ID")
        theirs, nobodys = (await eve.twin(HERE)).json(), (await eve.twin("/members/nobody")).json()
        for part in ("accounts", "points", "holds", "timeline", "tiers", "messages", "campaigns", "approvals"):
            assert theirs[part] == nobodys[part]
        token = (await eve.see("/me")).text.partition('name="form" value="')[2].partition('"')[0]
        typed = {"form": token, "key": "6f1f2f39-3a4e-5d0a-9a55-5b1a6a0c7a11", "points": "5", "sure": "do", **REASON}
        for act in ("adjust", "hold", "spend", "reverse", "release", "capture", "tier"):
            more = {"account": "GRP", "transfer": "txn:rides:bob", "span": "900", "again": "bob"}
            sent = await eve.client.post(place(act), data=typed | more)
            assert (act, "has an account where you may do this" in sent.text) == (act, True)
        for account in ("new:SG", "new:ID"):
            more = {"account": account, "again": "bob"}
            assert (await eve.client.post(place("open"), data=typed | more)).status_code in {403, 422}
        assert await balance(pool) == 100


async def test_a_transfer_of_another_country_is_not_taken_back(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        await post(pool, award("txn:rides:2", 50)._replace(program="OVO", country="ID"))
        ann = await open_desk.inside("ann", "support:SG")
        sent = await asked(ann, "reverse", transfer="txn:rides:2", points="5", reason="cancelled")
        assert (sent.status_code, 'id="wrong-transfer"' in sent.text) == (422, True)


async def test_what_people_wrote_is_text(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk, SCRIPT)
        await open_desk.partner("acme", SCRIPT)
        ann = await open_desk.inside("ann", "support")
        typed = {"account": "GRP", "points": "5", "reason": "other", "details": SCRIPT}
        looked = await asked(ann, "adjust", SCRIPT, **typed)
        assert (await ann.confirm(looked, sure="do")).status_code == 303
        here = f"/members/{quote(SCRIPT, safe='')}"
        pages = [here, "/partners", "/partners/acme", f"/members?id={quote(SCRIPT + chr(7))}"]
        for path, text in [("", looked.text), *[(path, (await ann.see(path)).text) for path in pages]]:
            assert SCRIPT not in text
            assert "&lt;script&gt;" in text or path.startswith("/members?")


async def test_a_member_is_found_by_its_exact_id(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        ann = await open_desk.inside("ann", "support")
        for typed, location in (("bob", HERE), ("a/b c", "/members/a%2Fb%20c")):
            found = await ann.see(f"/members?id={quote(typed, safe='')}")
            assert (found.status_code, found.headers["location"]) == (303, location)
        assert (await ann.see("/members?id=" + "x" * 129)).status_code == 422


async def test_nobody_is_created_by_looking_nor_by_a_typing_mistake(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        ann = await open_desk.inside("ann", "support")
        there = "/members/eev"
        shown = (await ann.see(there)).text
        assert "No member of the id" in shown
        assert "What happened" not in shown
        assert "<input" not in shown.partition("<main")[2].partition("</main>")[0], "no form stands there"
        assert "No member of the id" not in (await ann.see(HERE)).text
        for act in ("adjust", "hold", "spend"):
            assert "<form" not in (await ann.see(place(act, "eev"))).text.partition("<main")[2].partition("</main>")[0]
        typed = {"account": "new:SG", "points": "5", **REASON}
        sent = await asked(ann, "open", "eev", again="eve", **typed)
        assert (sent.status_code, 'id="wrong-again"' in sent.text) == (422, True)
        assert await members_there(pool) == ["bob"]
        assert (await done(ann, "open", "eev", again="eev", **typed)).status_code == 303
        assert await members_there(pool) == ["bob", "eev"]


async def test_the_slash_of_an_id_is_no_slash_of_an_address(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        await post(pool, award("txn:rides:eve", 100, "eve"))
        ann = await open_desk.inside("ann", "support")
        for path in ("/members/eve/adjust", "/members-adjust/eve/x"):
            assert (await ann.see(path)).status_code == 404
        there = "/members/eve%2Fadjust"
        assert "eve/adjust" in (await ann.see(there)).text
        typed = {"account": "new:SG", "points": "5", "again": "eve/adjust", **REASON}
        assert (await done(ann, "open", "eve/adjust", **typed)).headers["location"] == there
        assert await balance(pool, "eve") == 100
        assert await members_there(pool) == ["bob", "eve", "eve/adjust"]
        shown = (await ann.twin(there)).json()
        assert (shown["member_id"], "+5 GRP" in shown["said"]["text"]) == ("eve/adjust", True)


async def members_there(pool: Pool) -> list[str]:
    return [row[0] for row in await pool.fetch("select member_id from account order by member_id")]


def rows_of(page: Any) -> list[Any]:
    return [each for day in page["timeline"]["value"]["rows"] for each in day["transfers"]]


async def test_a_timeline_goes_on_by_cursor(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await post(pool, *(award(f"txn:rides:{number}", 1) for number in range(60)))
        ann = await open_desk.inside("ann", "viewer")
        seen, here = [], f"{HERE}?kind=earn"
        while here:
            page = (await ann.twin(here)).json()
            seen += [each["key"] for each in rows_of(page)]
            here = page["timeline"]["value"]["more"]
            assert here is None or "kind=earn" in here
        assert (len(seen), len(set(seen))) == (60, 60)
        assert (await ann.twin(f"{HERE}?after=x")).status_code == 404


@pytest.mark.parametrize(
    ("asked_for", "kinds"),
    [
        ("", ["adjust", "earn"]),
        ("?kind=adjust", ["adjust"]),
        ("?program=GRP", ["adjust", "earn"]),
        ("?program=XX", []),
        ("?source=person", ["adjust"]),
        ("?source=person:ann", ["adjust"]),
        ("?source=stream", ["earn"]),
        ("?until=2020-01-01", []),
        ("?since=2020-01-01", ["adjust", "earn"]),
    ],
)
async def test_a_timeline_is_narrowed(pool: Pool, asked_for: str, kinds: list[str]) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        ann = await open_desk.inside("ann", "support")
        await adjusted(ann, "5")
        page = (await ann.twin(HERE + asked_for)).json()
        assert [each["kind"] for each in rows_of(page)] == kinds


@pytest.mark.parametrize("asked_for", ["kind=x", "since=x", "until=9999-12-31"])
async def test_a_timeline_says_what_it_cannot_be_narrowed_to(pool: Pool, asked_for: str) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        ann = await open_desk.inside("ann", "viewer")
        answer = await ann.see(f"{HERE}?{asked_for}")
        assert (answer.status_code, f'id="wrong-{asked_for.partition("=")[0]}"' in answer.text) == (422, True)


async def test_a_tier_is_set_and_cleared(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        ann = await open_desk.inside("ann", "support:SG")
        for tier, becomes in (("platinum", "platinum"), ("", "member")):
            assert (await done(ann, "tier", account="GRP", tier=tier, **REASON)).status_code == 303
            assert (await ann.twin(HERE)).json()["accounts"]["value"][0]["tier"] == becomes
        assert await pool.fetchval("select count(*) from audit_log where deed = 'set-tiers'") == 2
        assert (await asked(ann, "tier", account="GRP", tier="king", **REASON)).status_code == 422
        again = await asked(ann, "tier", account="GRP", tier="", **REASON)
        assert (await ann.confirm(again, sure="do")).status_code == 422, "none is set any more"


async def test_partners_are_for_those_who_see_every_country(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await open_desk.partner("acme")
        ann, eve = await open_desk.inside("ann", "viewer"), await open_desk.inside("eve", "viewer:SG")
        for path in ("/partners", "/partners/acme"):
            assert [(await each.twin(path)).status_code for each in (ann, eve)] == [200, 403]
        shown = (await ann.twin("/partners/acme")).json()["partner"]
        day = {"field": "per_day", "name": "Points in a day", "limit": 500, "used": 0}
        assert [each for each in shown["limits"] if each["field"] == "per_day"] == [day]
        assert "digest" not in shown["keys"][0]
        assert (await ann.twin("/partners/nobody")).status_code == 404


async def test_messages_to_a_partner_are_due_again_once(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await hooked(pool, "acme", "http://127.0.0.1:9/")
        eve, ann = await open_desk.inside("eve", "operator"), await open_desk.inside("ann", "viewer")
        pages = [(await each.see("/me")).text for each in (eve, ann)]
        tokens = [each.partition('name="form" value="')[2].partition('"')[0] for each in pages]
        typed = {"key": "6f1f2f39-3a4e-5d0a-9a55-5b1a6a0c7a11"}
        for who, token, status in ((eve, tokens[0], 303), (eve, tokens[0], 303), (ann, tokens[1], 403)):
            sent = await who.client.post("/partners/acme/send-again", data=typed | {"form": token})
            assert sent.status_code == status
        assert await pool.fetchval("select count(*) from audit_log where deed = 'replay'") == 1
