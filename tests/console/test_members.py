"""The pages of members: what they show and to whom, and points that are moved through them, once."""

from urllib.parse import quote

import pytest

from abacus.platform.postgres import Pool
from tests.console.desk import desk
from tests.console.one_member import HERE, adjusted, balance, opened
from tests.support.hooks import award, post
from tests.support.hooks import partner as hooked

SCRIPT = "<script>alert(1)</script>"


async def test_a_large_adjustment_is_refused_to_its_author_and_approved_by_another(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        ann = await open_desk.inside("ann", "support", "approver")
        ben = await open_desk.inside("ben", "approver")
        shown = await ann.see(await adjusted(ann, "50"))
        assert "need a second person" in shown.text
        (approval,) = (await ann.twin("/approvals")).json()["list"]["rows"]
        there = f"/approvals/{approval['approval_id']}"
        assert f'href="{there}"' in shown.text
        assert await balance(pool) == 100
        own = await ann.twin(there)
        assert own.json()["why_not"]
        assert f"{there}/approve" not in (await ann.see(there)).text
        assert (await ben.send(there, f"{there}/approve")).status_code == 303
        assert await balance(pool) == 150


async def test_a_form_that_is_sent_twice_adjusts_once(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        ann = await open_desk.inside("ann", "support")
        same = {"key": "6f1f2f39-3a4e-5d0a-9a55-5b1a6a0c7a11", "adjust_points": "5", "adjust_reason": "sorry"}
        for points, status in (("5", 303), ("5", 303), ("6", 422)):
            sent = await ann.send(HERE, f"{HERE}/adjust", **same | {"adjust_points": points})
            assert sent.status_code == status
        assert await balance(pool) == 105


async def test_points_are_held_released_and_taken_back(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        ann = await open_desk.inside("ann", "support")
        assert (await ann.send(HERE, f"{HERE}/hold", hold_points="30", hold_expires_in="900")).status_code == 303
        (held,) = (await ann.twin(HERE)).json()["holds"]["value"]
        assert held["points"] == 30
        assert (await ann.send(HERE, f"{HERE}/release", hold=held["hold_id"])).status_code == 303
        page = (await ann.twin(HERE)).json()
        assert page["holds"]["value"] == []
        assert [each["kind"] for each in page["timeline"]["value"]["rows"]] == ["release", "hold", "earn"]
        taken = {"reverse_key": "txn:rides:bob", "reverse_points": "10", "reverse_reason": "wrong"}
        assert (await ann.send(HERE, f"{HERE}/reverse", **taken)).status_code == 303
        assert await balance(pool) == 90


@pytest.mark.parametrize(
    ("points", "reason", "wrong"),
    [
        ("many", "sorry", {"adjust_points"}),
        ("", "sorry", {"adjust_points"}),
        ("9" * 30, "sorry", {"adjust_points"}),
        ("5", "", {"adjust_reason"}),
        ("x", "y" * 201, {"adjust_points", "adjust_reason"}),
    ],
)
async def test_what_was_typed_is_kept_beside_what_is_wrong(
    pool: Pool, points: str, reason: str, wrong: set[str]
) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        ann = await open_desk.inside("ann", "support")
        sent = await ann.send(HERE, f"{HERE}/adjust", adjust_points=points, adjust_reason=reason)
        assert sent.status_code == 422
        assert f'value="{points}"' in sent.text
        assert {name for name in ("adjust_points", "adjust_reason") if f'id="wrong-{name}"' in sent.text} == wrong
        assert await balance(pool) == 100


async def test_a_member_of_another_country_is_as_good_as_nobody(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        eve = await open_desk.inside("eve", "support:ID")
        theirs, nobodys = (await eve.twin(HERE)).json(), (await eve.twin("/members/nobody")).json()
        for part in ("accounts", "holds", "lots", "timeline", "may"):
            assert theirs[part] == nobodys[part]
        typed = {"adjust_points": "5", "adjust_reason": "mine", "adjust_country": "SG", "adjust_program": ""}
        assert (await eve.send(HERE, f"{HERE}/adjust", **typed)).status_code in {403, 422}
        token = (await eve.see(HERE)).text.partition('name="form" value="')[2].partition('"')[0]
        for action in ("hold", "reverse", "release"):
            typed = {"form": token, "key": "6f1f2f39-3a4e-5d0a-9a55-5b1a6a0c7a11", "hold_points": "5"}
            sent = await eve.client.post(f"{HERE}/{action}", data=typed | {"reverse_key": "txn:rides:bob"})
            assert sent.status_code == 422
            assert "txn:rides:bob" not in sent.text.replace('value="txn:rides:bob"', "")
        assert await balance(pool) == 100


async def test_what_people_wrote_is_text(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk, SCRIPT)
        await open_desk.partner("acme", SCRIPT)
        ann = await open_desk.inside("ann", "support")
        here = f"/members/{quote(SCRIPT, safe='')}"
        sent = await ann.send(here, f"{here}/adjust", adjust_points="5", adjust_reason=SCRIPT)
        assert sent.status_code == 303
        for path in (here, "/partners", "/partners/acme", f"/members?id={quote(SCRIPT + chr(7))}"):
            text = (await ann.see(path)).text
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
        assert "<h2>Timeline</h2>" not in shown
        assert "No member of the id" not in (await ann.see(HERE)).text
        typed = {"adjust_points": "5", "adjust_reason": "sorry", "adjust_country": "SG"}
        sent = await ann.send(there, f"{there}/adjust", **typed)
        assert sent.status_code == 422
        assert 'id="wrong-adjust_new_member"' in sent.text
        assert await members_there(pool) == ["bob"]
        assert (await ann.send(there, f"{there}/adjust", **typed, adjust_new_member="yes")).status_code == 303
        assert await members_there(pool) == ["bob", "eev"]


async def test_the_slash_of_an_id_is_no_slash_of_an_address(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await opened(pool, open_desk)
        await post(pool, award("txn:rides:eve", 100, "eve"))
        ann = await open_desk.inside("ann", "support")
        assert (await ann.see("/members/eve/adjust")).status_code == 404
        there = "/members/eve%2Fadjust"
        assert "eve/adjust" in (await ann.see(there)).text
        typed = {"adjust_points": "5", "adjust_reason": "x", "adjust_country": "SG", "adjust_new_member": "yes"}
        token = (await ann.see(there)).text.partition('name="form" value="')[2].partition('"')[0]
        by_hand = {"form": token, "key": "6f1f2f39-3a4e-5d0a-9a55-5b1a6a0c7a11"}
        assert (await ann.client.post(there, data=by_hand | typed)).status_code == 404
        assert await balance(pool, "eve") == 100
        assert (await ann.send(there, f"{there}/adjust", **typed)).headers["location"] == there
        assert await members_there(pool) == ["bob", "eve", "eve/adjust"]
        assert (await ann.twin(there)).json()["member_id"] == "eve/adjust"


async def members_there(pool: Pool) -> list[str]:
    return [row[0] for row in await pool.fetch("select member_id from account order by member_id")]


async def test_a_timeline_goes_on_by_cursor(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await post(pool, *(award(f"txn:rides:{number}", 1) for number in range(60)))
        ann = await open_desk.inside("ann", "viewer")
        seen, here = [], HERE
        while here:
            timeline = (await ann.twin(here)).json()["timeline"]["value"]
            seen += [each["key"] for each in timeline["rows"]]
            here = timeline["more"]
        assert (len(seen), len(set(seen))) == (60, 60)
        assert (await ann.twin(f"{HERE}?after=x")).status_code == 404


async def test_partners_are_for_those_who_see_every_country(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await open_desk.partner("acme")
        ann, eve = await open_desk.inside("ann", "viewer"), await open_desk.inside("eve", "viewer:SG")
        for path in ("/partners", "/partners/acme"):
            assert [(await each.twin(path)).status_code for each in (ann, eve)] == [200, 403]
        shown = (await ann.twin("/partners/acme")).json()["partner"]
        assert shown["limits"][0] == {"field": "per_day", "name": "today, in UTC", "limit": 500, "used": 0}
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
