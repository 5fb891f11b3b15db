"""Segments in the console: made, changed by lists and files, combined, looked into, and dropped, within rights."""

import json
from collections.abc import AsyncIterator
from uuid import uuid4

import httpx
import pytest

from abacus.console.decide.segment_words import faults, sentences
from abacus.console.web.multipart import parts_of
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.people.store.audit import log
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool
from abacus.signals.segments.types import BadLine, How, Outlook
from tests.console.campaigning import MARKET, submitted
from tests.console.desk import Browser, Desk, desk
from tests.console.one_member import opened
from tests.signals.segments.sets_of_members import load, members_of

VIP = "/segments/vip"


@pytest.fixture
async def open_desk(pool: Pool) -> AsyncIterator[Desk]:
    async with desk(pool) as opened_desk:
        yield opened_desk


async def done(who: Browser, page: str, **typed: str) -> httpx.Response:
    """Looked at, and confirmed."""
    looked = await who.send(page, page.partition("?")[0], **typed)
    assert looked.status_code == 200, looked.text
    return await who.confirm(looked, sure="do")


async def test_a_segment_is_made_of_a_list_changed_and_dropped(pool: Pool, open_desk: Desk) -> None:
    await opened(pool, open_desk)
    olga = await open_desk.inside("olga", "operator")
    made = {"name": "vip", "country": "all", "ids": "bob\nann\nbob\n"}
    looked = await olga.send_for_twin("/segments-new", "/segments-new", **made)
    assert looked.json()["effects"] == [{"name": "Members of vip", "before": None, "after": "2"}]
    assert looked.json()["notes"] == [
        "2 members are put in.",
        "1 line more names one of them again.",
        "1 member is without an account, put in all the same: ann.",
    ]
    assert await pool.fetchval("select count(*) from member_number") == 0
    assert (await done(olga, "/segments-new", **made)).headers["location"] == VIP
    assert "vip@1 has 2 members: 2 new, 0 gone." in (await olga.see(VIP)).text
    assert (await done(olga, "/segments-change/vip", how="remove", ids="ann\ncid")).status_code == 303
    assert await members_of(pool, "vip") == {"bob"}
    assert (await done(olga, "/segments-change/vip", how="load", ids="dan")).status_code == 303
    assert await members_of(pool, "vip") == {"dan"}
    assert (await olga.send("/segments-drop/vip", "/segments-drop/vip", again="VIP")).status_code == 422
    assert (await done(olga, "/segments-drop/vip", again="vip")).headers["location"] == VIP
    assert "It was dropped by olga" in (await olga.see(VIP)).text
    assert (await olga.twin("/segments")).json()["segments"] == []
    entries = await log(pool, deed=Deed.PUBLISH_SEGMENTS)
    assert [(each.actor, each.subject, json.loads(each.details)["did"]) for each in reversed(entries)] == [
        ("person:olga", "segment:vip", did) for did in ("load", "remove", "load", "drop")
    ]


async def test_a_form_that_is_sent_twice_changes_once(pool: Pool, open_desk: Desk) -> None:
    await load(pool, "vip", "ann")
    olga = await open_desk.inside("olga", "operator")
    page = "/segments-change/vip"
    looked = await olga.send(page, page, how="add", ids="bob")
    assert (await olga.confirm(looked, sure="do")).status_code == 303
    await load(pool, "vip", "ann")
    assert (await olga.confirm(looked, sure="do")).status_code == 303
    assert "It was sent twice, and done once." in (await olga.see(VIP)).text
    assert await members_of(pool, "vip") == {"ann"}


async def test_a_file_stands_beside_what_was_pasted(pool: Pool, open_desk: Desk) -> None:
    await load(pool, "vip", "ann")
    olga = await open_desk.inside("olga", "operator")
    page = "/segments-change/vip"
    token = (await olga.see(page)).text.split('name="form" value="')[1].split('"')[0]
    fields = {"form": token, "key": str(uuid4()), "how": "add", "ids": "cid,SG"}
    file = {"file": ("vip.csv", b"\xef\xbb\xbfmember_id,country\r\nbob,SG\r\n", "text/csv")}
    looked = await olga.client.post(page, data=fields, files=file)
    assert (looked.status_code, "2 members are put in." in looked.text) == (200, True)
    assert (await olga.confirm(looked, sure="do")).status_code == 303
    assert await members_of(pool, "vip") == {"ann", "bob", "cid"}
    for content, status in ((b"\xff\xfe", 400), (b"bob\n" * 300_000, 413)):
        sent = await olga.client.post(page, data=fields, files={"file": ("a.csv", content, "text/csv")})
        assert sent.status_code == status


MISTAKES: list[tuple[str, dict[str, str], str]] = [
    ("/segments-new", {"name": "Vip", "country": "all", "ids": "ann"}, "name"),
    ("/segments-new", {"name": "vip", "country": "all", "ids": "ann"}, "name"),
    ("/segments-new", {"name": "new", "country": "XX", "ids": "ann"}, "country"),
    ("/segments-new", {"name": "new", "country": "all", "ids": " \n"}, "ids"),
    ("/segments-change/vip", {"how": "drop", "ids": "ann"}, "how"),
    ("/segments-change/vip", {"how": "add", "ids": "ann\n" + "x" * 129}, "ids"),
    ("/segments-change/vip", {"how": "add", "ids": "=ann"}, "ids"),
    ("/segments-combine/vip", {"how": "union", "other": "vip"}, "other"),
    ("/segments-combine/vip", {"how": "load", "other": "lapsed"}, "how"),
    ("/segments-combine/vip", {"how": "union", "other": "lapsed", "into": "lapsed"}, "into"),
    ("/segments-combine/vip", {"how": "union", "other": "lapsed", "into": "No"}, "into"),
    ("/segments-drop/vip", {"again": ""}, "again"),
]


async def test_a_mistake_is_told_at_its_field_and_nothing_is_lost(pool: Pool, open_desk: Desk) -> None:
    await load(pool, "vip", "ann")
    await load(pool, "lapsed", "ann")
    olga = await open_desk.inside("olga", "operator")
    for page, typed, field in MISTAKES:
        refused = await olga.send_for_twin(page, page, **typed)
        assert (typed, refused.status_code, list(refused.json()["form"]["wrong"])) == (typed, 422, [field])
        assert typed.items() <= refused.json()["form"]["typed"].items()
    assert await pool.fetchval("select count(*) from segment_version") == 2


async def test_two_segments_are_combined_into_a_third(pool: Pool, open_desk: Desk) -> None:
    await load(pool, "vip", "ann", "bob")
    await load(pool, "lapsed", "bob", "cid")
    olga = await open_desk.inside("olga", "operator")
    page = "/segments-combine/vip"
    sent = await done(olga, page, how="intersect", other="lapsed", into="win_back")
    assert sent.headers["location"] == "/segments/win_back"
    assert await members_of(pool, "win_back") == {"bob"}
    assert (await done(olga, page, how="subtract", other="lapsed")).headers["location"] == VIP
    assert await members_of(pool, "vip") == {"ann"}


async def test_a_segment_is_looked_into_page_by_page(pool: Pool, open_desk: Desk) -> None:
    await load(pool, "vip", *(f"m{number:03}" for number in range(150)))
    olga = await open_desk.inside("olga", "operator")
    first = (await olga.twin(VIP)).json()["members"]
    last = (await olga.twin(first["more"])).json()["members"]
    assert ([*first["rows"], *last["rows"]], last["more"]) == ([f"m{number:03}" for number in range(150)], None)
    for member, is_in in (("m149", True), ("zoe", False)):
        looked = (await olga.twin(f"{VIP}?member={member}")).json()["looked"]
        assert looked == {"member_id": member, "is_in": is_in, "version": 1}
    assert (await olga.see(f"{VIP}?member={'x' * 129}")).status_code == 422
    for after in ("x", "-2", "99999999999"):
        assert (await olga.see(f"{VIP}?after={after}")).status_code == 404


async def test_campaigns_and_segments_lead_to_each_other(pool: Pool, open_desk: Desk) -> None:
    await load(pool, "vip", "ann")
    await load(pool, "lapsed", "ann")
    rule = {"operator": "not", "conditions": [{"operator": "eq", "lhs": "segment.vip", "rhs": True}]}
    await submitted(open_desk, when=rule)
    olga = await open_desk.inside("olga", "operator")
    (market,) = (await olga.twin(VIP)).json()["campaigns"]["value"]
    assert (market["name"], market["version"], market["status"]) == ("market", 1, "submitted")
    listed = (await olga.twin("/segments")).json()["segments"]
    assert {each["name"]: each["campaigns"] for each in listed} == {"lapsed": [], "vip": ["market"]}
    assert 'href="/segments/vip"' in (await olga.see(f"/campaigns/{MARKET['name']}")).text
    assert (
        "The campaign market asks for it"
        in (await olga.send("/segments-drop/vip", "/segments-drop/vip", again="vip")).text
    )
    found = (await olga.twin("/search?q=vip")).json()["groups"]
    assert [each["noun"] for each in found] == ["Segments"]
    record = (await open_desk.rooms[CampaignDesk].history("market"))[-1]
    assert record.document.segments == ["vip"]


async def test_rights_are_those_of_the_segments_country(pool: Pool, open_desk: Desk) -> None:
    await load(pool, "everywhere", "ann")
    await load(pool, "here", "ann", country="SG")
    await load(pool, "there", "ann", country="ID")
    eddy = await open_desk.inside("eddy", "country_editor:SG")
    assert [each["name"] for each in (await eddy.twin("/segments")).json()["segments"]] == ["everywhere", "here"]
    assert (await eddy.twin("/segments/everywhere")).json()["members"] is None
    assert (await eddy.twin("/segments/here")).json()["members"]["rows"] == ["ann"]
    for path, status in (
        ("/segments/there", 404),
        ("/segments-change/everywhere", 403),
        ("/segments-drop/everywhere", 403),
        ("/segments-change/there", 404),
        ("/segments-change/here", 200),
    ):
        assert (path, (await eddy.see(path)).status_code) == (path, status)
    others = (await eddy.twin("/segments-combine/here")).json()["fields"][1]["options"]
    assert others == [["", "choose"]]
    made = {"name": "mine", "country": "SG", "ids": "ann"}
    assert (await done(eddy, "/segments-new", **made)).status_code == 303
    refused = await eddy.send("/segments-new", "/segments-new", name="ours", country="all", ids="ann")
    assert refused.status_code == 422
    sid = await open_desk.inside("sid", "support:SG")
    assert (await sid.see("/segments-new")).status_code == 403
    assert "/segments-change/" not in (await sid.see("/segments/here")).text


TWELVE = [f"m{number}" for number in range(12)]
STRANGE = "12 members are without an account, put in all the same: m0, m1, m2, m3, m4, m5, m6, m7, m8, m9 and 2 more."
AGAIN = "2 lines more name one of them again."


@pytest.mark.parametrize(
    ("how", "seen", "again", "told"),
    [
        (How.ADD, Outlook(None, 3, 1, 0, 2), 0, ["1 member is put in.", "2 members are in it already."]),
        (How.REMOVE, Outlook(None, 3, 0, 1, 1), 2, ["1 member is taken out.", "1 member is not in it.", AGAIN]),
        (How.UNION, Outlook(None, 3, 0, 0), 0, ["It has these members already: nothing changes."]),
        (How.UNION, Outlook(None, 1200, 1200, 0), 0, ["1,200 members are put in."]),
        (How.SUBTRACT, Outlook(None, 1, 0, 2), 0, ["2 members are taken out."]),
        (How.ADD, Outlook(None, 12, 12, 0, 0, TWELVE), 0, ["12 members are put in.", STRANGE]),
    ],
)
def test_what_a_change_would_do_in_sentences(how: How, seen: Outlook, again: int, told: list[str]) -> None:
    assert sentences(how, seen, again=again) == told


def test_ten_bad_lines_are_shown() -> None:
    bad = [BadLine(line, "no") for line in range(1, 13)]
    assert faults(bad[:1]) == "Line 1: no. Nothing is changed by a list with such a line."
    assert "line 10: no; and 2 lines more." in faults(bad)


OF_X = "multipart/form-data; boundary=x"
HEAD = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n'
OTHER = '--x y\r\ncontent-disposition: form-data; filename="name=b"; name="é"\r\n\r\n\r\n--x y--'


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        (OF_X, HEAD + b"1\r\n2\r\n--x--\r\n", [("a", "1\r\n2")]),
        ('multipart/form-data; boundary="x y"', OTHER.encode(), [("é", "")]),
        ("multipart/form-data", b"", None),
        (OF_X, b"", None),
        (OF_X, HEAD + b"1", None),
        (OF_X, b"--x\r\nContent-Type: text/csv\r\n\r\n1\r\n--x--", None),
        (OF_X, HEAD + b"\xff\r\n--x--", None),
    ],
)
def test_a_form_with_a_file_is_read_in_parts(
    content_type: str, body: bytes, expected: list[tuple[str, str]] | None
) -> None:
    if expected is None:
        with pytest.raises(ValueError, match=r"."):
            list(parts_of(content_type, body))
    else:
        assert list(parts_of(content_type, body)) == expected
