"""Members are moved to another version and let in by hand, in the console."""

import json
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

from abacus.console.errands.command import ERRAND_TOKEN
from abacus.console.errands.store import ErrandStore
from abacus.console.errands.types import Errand, ErrandOutcome, State
from abacus.engage.journeys.desk import JourneyDesk
from abacus.platform.postgres import Pool
from tests.console.campaigning import cards
from tests.console.desk import Browser, Desk, desk
from tests.console.travelling import BY_HAND, RENAMED, run, two_versions
from tests.documents.samples import JOURNEYS
from tests.people.approving import ANN

MOVE: Final = "/journeys/welcome/migrate"


async def ended(open_desk: Desk, document: dict[str, Any]) -> Errand:
    """The task that was asked for last has printed this."""
    store, runner = open_desk.rooms[ErrandStore], uuid4()
    taken = await store.take(runner, ERRAND_TOKEN.new())
    assert taken is not None
    await store.end(taken.errand_id, runner, ErrandOutcome(State.DONE, 0, None, json.dumps(document).encode()))
    return taken


async def found(who: Browser, path: str) -> dict[str, Any]:
    page: dict[str, Any] = (await who.twin(path)).json()
    return page


async def test_members_are_moved_by_two_people_who_have_seen_where_they_land(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        await two_versions(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        ben = await open_desk.inside("ben", "approver:SG")
        assert f'href="{MOVE}"' in (await ann.see("/journeys/welcome")).text
        page = await found(ann, MOVE)
        assert (page["origins"], page["before"], page["after"]) == ([["1", "version 1: 2 members inside"]], 1, 2)
        rest = next(each for each in page["fields"] if each["name"] == "node-pause")
        assert (rest["value"], rest["options"][0]) == ("", ["", "choose"])
        assert ["rest", "rest: waits 3d"] in rest["options"]
        # Nothing is asked for before it is complete, nor before somebody has looked at a dry run.
        faulty = await ann.send(MOVE, MOVE, act="try", **{"from": "1"})
        assert (faulty.status_code, "Choose where they go on" in faulty.text) == (422, True)
        typed = {"from": "1", "node-pause": "rest"}
        early = await ann.send(MOVE, MOVE, act="submit", **typed)
        assert (early.status_code, "Look at a dry run" in early.text) == (422, True)
        there = (await ann.send(MOVE, MOVE, act="try", **typed)).headers["location"]
        assert parse_qs(urlsplit(there).query) == {"from": ["1"], "node-pause": ["rest"]}
        row = {"from": "pause", "to": "rest", "goes_on": "when it would have", "members": 2}
        counted = {"name": "welcome", "from": 1, "to": 2, "nodes": [row], "members": 2}
        tried = await ended(open_desk, counted)
        between = ["journeys", "migrate", "welcome", "--from=1", "--to=2", "--map=map.json"]
        assert tried.arguments == [*between, "--dry-run", "--json"]
        assert json.loads(json.loads(tried.papers)["map.json"]) == {"pause": "rest"}
        page = await found(ann, there)
        assert page["landings"][0]["begins"] == "Members at pause"
        assert "go over to rest (waits 3d); they go on when they would have" in page["landings"][0]["says"]
        assert page["trials"]["value"][0]["words"]["says"] == ["2 members would be moved. Nothing was changed."]
        # The person who approves it reads the same, and sees the dry run.
        waiting = (await ann.send(there, MOVE, act="submit", **typed)).headers["location"]
        assert f'href="{waiting}"' in (await ann.see(there)).text
        told = await found(ben, waiting)
        assert told["told"]["value"]["sentences"] == page["landings"]
        marks = [each["stop"]["mark"] for each in told["told"]["value"]["picture"]["boxes"]]
        assert [each for each in marks if each] == ["from pause"]
        assert [each["done"]["errand"]["errand_id"] for each in told["trials"]["value"]] == [str(tried.errand_id)]
        again = await ben.send(waiting, f"{waiting}/try")
        assert (again.status_code, told["trial_page"]) == (303, None)
        await ended(open_desk, counted)
        assert (await ann.send(there, MOVE, act="move", **typed)).status_code == 422
        assert (await ben.send(waiting, f"{waiting}/approve", digest=told["digest"])).status_code == 303
        assert (await found(ann, there))["agreed_by"] == "person:ben"
        assert (await ann.send(there, MOVE, act="move", **typed)).headers["location"] == there
        assert "2 members are inside version 1 yet" in (await ann.see(there)).text
        moving = await ended(open_desk, {**counted, "approval": None, "moved": 2})
        assert moving.arguments == [*between, "--json"]
        seen = [each["words"]["says"] for each in (await found(ben, waiting))["trials"]["value"]]
        assert seen == [["2 members were moved."], ["2 members would be moved. Nothing was changed."]]
        assert (await ben.see(there)).status_code == 403


async def test_where_nobody_can_be_moved_the_page_says_why(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        journeys = open_desk.rooms[JourneyDesk]
        await journeys.propose(await journeys.read(JOURNEYS.document), ANN)
        assert "No version takes members in now" in (await ann.see(MOVE)).text
        await run(open_desk, RENAMED)
        assert "Everybody who is inside is on version 2" in (await ann.see(MOVE)).text
        assert (await ann.see(f"{MOVE}?from=2")).status_code == 404
        # What members did not bring along no map can give them.
        await run(
            open_desk, {**BY_HAND, "name": "other"}, {**BY_HAND, "name": "other", "context": {"points": "decimal"}}
        )
        blocked = await found(ann, "/journeys/other/migrate?from=1")
        assert "did not bring that of other@2" in blocked["refused"]


async def test_a_member_is_let_in_by_hand_with_a_context_of_its_types(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        await run(open_desk, JOURNEYS.document, BY_HAND)
        sam = await open_desk.inside("sam", "support:SG")
        ann = await open_desk.inside("ann", "country_editor:SG")
        here = "/journeys/lapsing/enter"
        assert f'href="{here}"' in (await sam.see("/journeys/lapsing")).text
        assert "/enter" not in (await sam.see("/journeys/welcome")).text
        assert "/enter" not in (await ann.see("/journeys/lapsing")).text
        assert (await ann.see(here)).status_code == 403
        assert (await sam.see("/journeys/welcome/enter")).status_code == 404
        form = (await found(sam, here))["fields"]
        assert {each["label"]: (each["type"], each["options"] is not None) for each in form} == {
            "Member": ("text", False),
            "Points": ("text", False),
            "Lapses at": ("datetime-local", False),
            "Is vip": ("text", True),
            "Shops": ("text", False),
            "Reason": ("text", False),
        }
        good = {
            "member": "bob",
            "context-points": "12",
            "context-lapses_at": "2026-12-31T10:00",
            "context-is_vip": "true",
            "context-shops": "food, rides",
            "reason": "asked by phone",
        }
        wrong = {"member": "", "context-points": "many", "context-lapses_at": "", "reason": ""}
        bad = (await sam.send_for_twin(here, here, **{**good, **wrong})).json()["form"]["wrong"]
        assert set(bad) == {"member", "context-points", "context-lapses_at", "reason"}
        shown = await sam.send(here, here, **good)
        assert "bob enters lapsing@1. The first node is" in shown.text
        there = (await sam.confirm(shown, sure="do")).headers["location"]
        assert there == "/journeys/lapsing/where?member=bob"
        (asked,) = (await found(sam, there))["asked"]["value"]
        assert (asked["owner"], asked["is_done"]) == ("person:sam", False)
        assert "asked for it to enter. It enters within seconds" in (await sam.see(there)).text
        assert json.loads(await pool.fetchval("select document from action where kind = 'start'")) == {
            "start": {
                "points": 12,
                "lapses_at": "2026-12-31T10:00:00+08:00",
                "is_vip": True,
                "shops": ["food", "rides"],
            }
        }
        eve = await open_desk.inside("eve", "admin")
        log = (await eve.see("/log?kind=member&subject=bob")).text
        assert 'let <a href="/members/bob">bob</a> enter the journey lapsing' in log
        assert "asked by phone" in log
