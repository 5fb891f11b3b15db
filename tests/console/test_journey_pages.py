"""Journeys in the console: drawn, written node by node, approved by another person, paused and ended."""

import json
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from abacus.console.decide.journey_trials import went, would_take
from abacus.console.errands.store import ErrandStore
from abacus.documents.decide.states import Act
from abacus.engage.journeys.desk import JourneyDesk
from abacus.engage.journeys.journey_store import JourneyStore
from abacus.platform.postgres import Pool
from tests.console.campaigning import cards
from tests.console.desk import desk
from tests.console.travelling import run
from tests.documents.samples import JOURNEYS
from tests.engage.campaigns.offers import order
from tests.engage.journeys.trip import Trip
from tests.people.approving import ANN
from tests.support.hooks import award, post

PAGE: Final = "/journeys-draft"
_EXAMPLES: Final = Path(__file__).parents[2] / "docs" / "examples"
LATER: Final = [f"then-{number}{what}" for number in (1, 2, 3) for what in ("", "-at", "-amount")]
TOML: Final = (_EXAMPLES / "journey-welcome.toml").read_text()


def nodes(picture: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["stop"]["name"]: each["stop"] for each in picture["boxes"]}


async def test_a_journey_from_its_text_to_its_end_by_two_people(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        ben = await open_desk.inside("ben", "approver:SG")
        waiting = (await ann.submit(PAGE, PAGE, TOML)).headers["location"]
        told = (await ben.twin(waiting)).json()
        assert nodes(told["told"]["value"]["picture"])["hello"]["does"] == "tell “Welcome”"
        assert "<svg" in (await ben.see(waiting)).text
        assert (await ben.send(waiting, f"{waiting}/approve", digest=told["digest"])).status_code == 303
        (row,) = (await ben.twin("/journeys")).json()["list"]["rows"]
        assert (row["name"], row["state"], row["told"]) == ("welcome", "running", {"nodes": "5"})
        page = await ann.see("/journeys/welcome")
        assert 'href="#node-second_order"' in page.text
        assert 'id="node-second_order"' in page.text
        assert "style=" not in page.text
        for act, state in (("pause", "paused"), ("resume", "running"), ("end", "ended")):
            moved = await ann.send("/journeys/welcome", "/journeys/welcome/move", act=act, reason="so")
            assert moved.status_code == 303
            assert (await ann.twin("/journeys/welcome")).json()["shown"]["row"]["state"] == state


async def test_another_version_shows_which_nodes_it_changes(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        ben = await open_desk.inside("ben", "approver:SG")
        first = (await ann.submit(PAGE, PAGE, TOML)).headers["location"]
        await ben.send(first, f"{first}/approve", digest=(await ben.twin(first)).json()["digest"])
        second = (await ann.submit(PAGE, PAGE, TOML.replace("points = 50", "points = 60"))).headers["location"]
        told = (await ben.twin(second)).json()["told"]["value"]
        assert {name: each["mark"] for name, each in nodes(told["picture"]).items() if each["mark"]} == {
            "thank": "changed"
        }
        assert any(each["before"] == "50" and each["value"] == "60" for each in told["changes"])


async def test_nodes_are_added_connected_and_deleted_by_forms_and_undone(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        begun = (await ann.twin(PAGE)).json()
        assert (begun["faults"], begun["to_mend"]) == ({"at": {}, "elsewhere": []}, [])

        async def act(before: dict[str, Any], act: str, **typed: str) -> dict[str, Any]:
            draft = before["draft"]
            carried = {"text": draft["text"], "shown": draft["shown"], "undo": json.dumps(draft["before"])}
            found: dict[str, Any] = (await ann.send_for_twin(PAGE, PAGE, **{**carried, "act": act, **typed})).json()
            return found

        added = await act(begun, "add:nodes", **{"doc.nodes/new": "pause"})
        assert nodes(added["picture"])["pause"]["wrong"]
        assert added["touched"] == "nodes"
        # A wait of a day, which leads on to the end; and the first node leads to it.
        waits = await act(added, "check", **{"doc.nodes.pause/part": "1"})
        said = await act(waits, "check", **{"doc.nodes.pause.wait.for": "1d", "doc.nodes.pause.next": "second_order"})
        assert nodes(said["picture"])["pause"]["wrong"] == ["no node leads here"]
        joined = await act(said, "check", **{"doc.nodes.hello.next": "pause"})
        assert joined["to_mend"] == []
        assert nodes(joined["picture"])["pause"]["does"] == "waits 1d"
        gone = await act(joined, "remove:nodes.pause")
        assert nodes(gone["picture"])["hello"]["wrong"]
        undone = await act(gone, "undo")
        assert (undone["draft"]["text"], undone["to_mend"]) == (joined["draft"]["text"], [])


async def test_a_member_who_waits_for_a_time_is_told_where(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        await run(open_desk, JOURNEYS.document)
        (record,) = await JourneyStore(pool).history("welcome")
        await Trip(pool, record.document).enter(1, 2)
        await post(pool, award("txn:rides:m1", 100, "m1"))
        sam = await open_desk.inside("sam", "support:SG")
        (inside,) = (await sam.twin("/members/m1")).json()["journeys"]["value"]
        assert (inside["node"], inside["since"]) == ("pause", inside["entered_at"])


async def test_counts_are_told_as_they_change_until_nothing_can_change(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        await run(open_desk, JOURNEYS.document)
        (record,) = await JourneyStore(pool).history("welcome")
        ann = await open_desk.inside("ann", "country_editor:SG")
        before = (await ann.twin("/journeys/welcome")).json()
        assert (before["live"], before["members"]["value"]["entered"]) == ("/journeys/welcome/live", 0)
        assert f'data-live="{before["live"]}"' in (await ann.see("/journeys/welcome")).text
        await Trip(pool, record.document).enter(1, 2)
        entered = (await ann.twin("/journeys/welcome")).json()["members"]["value"]
        assert (entered["entered"], entered["inside"]) == (2, 2)
        # Members are inside as long as nobody has let them go: the counts of a journey that has ended go on changing.
        journeys = open_desk.rooms[JourneyDesk]
        await journeys.move(record.document, Act.END, "over", ANN, version=1)
        assert (await ann.twin("/journeys/welcome")).json()["live"] is not None
        await journeys.propose(await journeys.read({**JOURNEYS.document, "name": "other"}), ANN)
        assert (await ann.twin("/journeys/other")).json()["live"] is None
        assert (await ann.see("/journeys/other/live")).text == ": listening\n\nevent: changed\ndata:\n\n"
        ida = await open_desk.inside("ida", "viewer:ID")
        assert (await ida.see("/journeys/welcome/live")).status_code == 404


async def test_what_is_not_open_to_a_person_is_not_shown(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        await ann.submit(PAGE, PAGE, TOML)
        ida = await open_desk.inside("ida", "viewer:ID")
        assert (await ida.see("/journeys/welcome")).status_code == 404
        assert (await ida.twin("/journeys")).json()["list"]["rows"] == []
        assert (await ida.see(PAGE)).status_code == 403


async def test_a_draft_is_tried_with_a_member_and_with_a_segment(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        text = (_EXAMPLES / "journey-back.toml").read_text()
        shown = (await ann.send_for_twin(PAGE, PAGE, text=text, act="check")).json()
        assert [[each["name"] for each in form["fields"]] for form in shown["trial_forms"]] == [
            ["member", "at", "context-last_order_at", *LATER, "then"],
            ["segment"],
        ]
        entry = {"at": "2026-02-01T00:00", "context-last_order_at": "2026-01-10T12:30:00+08:00"}
        tried = await ann.send(PAGE, PAGE, text=text, act="simulate", member="bob", **entry)
        (simulation,) = await open_desk.rooms[ErrandStore].all(["SG"], after=None, limit=9)
        at = "--at=2026-02-01T00:00:00+08:00"
        options = ["--member=bob", at, "--context=context.json", "--json"]
        assert simulation.arguments == ["journeys", "simulate", "journey.toml", *options]
        assert json.loads(json.loads(simulation.papers)["context.json"]) == {
            "last_order_at": "2026-01-10T12:30:00+08:00"
        }
        assert f"/journey-trials/{simulation.errand_id}" in tried.text
        open_desk.clock.pass_(seconds=1)
        await ann.send(PAGE, PAGE, text=text, act="dry-run", segment="vip", **entry)
        asked, _ = await open_desk.rooms[ErrandStore].all(["SG"], after=None, limit=9)
        options = ["--segment=vip", at, "--context=context.json", "--json"]
        assert asked.arguments == ["journeys", "dry-run", "journey.toml", *options]
        # What would happen meanwhile is assumed: of a journey that hears of it there is an example to begin with.
        (example,) = json.loads(shown["trial_forms"][0]["fields"][-1]["example"])
        assert (example["type"], example["country"]) == ("transaction.completed", "SG")
        open_desk.clock.pass_(seconds=1)
        await ann.send(PAGE, PAGE, text=text, act="simulate", member="bob", then=json.dumps(example), **entry)
        then = (await open_desk.rooms[ErrandStore].all(["SG"], after=None, limit=9))[0]
        assert then.arguments[-2:] == ["--then=then.json", "--json"]
        assert json.loads(json.loads(then.papers)["then.json"]) == [example]
        # Or it is chosen, and only the variables are asked for at which the journey looks.
        open_desk.clock.pass_(seconds=1)
        order = "transactions/transaction.completed"
        chosen = {"then-2": order, "then-2-at": "2026-02-03T09:00", "then-2-amount": "12.5"}
        asked_for = {"member": "bob", "then": json.dumps([example]), **chosen, **entry}
        await ann.send(PAGE, PAGE, text=text, act="simulate", **asked_for)
        both = (await open_desk.rooms[ErrandStore].all(["SG"], after=None, limit=9))[0]
        event, typed_event = json.loads(json.loads(both.papers)["then.json"])
        assert (f"{event['source']}/{event['type']}", event["member_id"], typed_event) == (order, "bob", example)
        assert (event["occurred_at"], event["var"]) == ("2026-02-03T09:00:00+08:00", {"amount": "12.5"})
        for act, wrong in (
            ("simulate", {**chosen, "then-2-amount": "much"}),
            ("simulate", {**chosen, "then-2-at": "soon"}),
            ("simulate", {**chosen, "then-2": "shop/opened"}),
            ("simulate", {"member": ""}),
            ("simulate", {"at": "x"}),
            ("simulate", {"then": "{"}),
            ("dry-run", {"segment": ""}),
        ):
            typed = {"member": "bob", "segment": "vip", **entry, **wrong}
            assert (await ann.send(PAGE, PAGE, text=text, act=act, **typed)).status_code == 422


def test_a_way_is_told_with_each_decision() -> None:
    seen = {"condition": "var.amount gte 20", "value": "15.00", "holds": False}
    trail = [
        {"node": "which", "way": "otherwise", "conditions": [seen]},
        {"node": "hello", "way": "", "conditions": []},
    ]
    done = [{"node": "hello", "do": {"tell": {}}}]
    waits = {"node": "rest", "for": "event", "over": "2026-01-12T02:00:00+00:00"}
    at, later = "2026-01-10T02:00:00+00:00", "2026-01-12T02:00:00+00:00"
    left = {"reason": "through", "node": "done", "conditions": []}
    legs = [
        {"at": at, "woken": "entered", "trail": trail, "done": done, "waits": waits, "left": None},
        {"at": later, "woken": "due", "trail": [], "done": [], "waits": None, "left": left},
    ]
    bob = {"member_id": "bob", "timezone": "Asia/Singapore"}
    rest = "waits at rest for an event until 2026-01-12 10:00"
    words = went({**bob, "against": None, "conditions": [], "legs": legs})
    assert words.says == [
        "The clock is that of Asia/Singapore.",
        f"2026-01-10 10:00, it enters: which (otherwise) → hello → {rest}. Done: tell at hello.",
        "2026-01-12 10:00, the time has come: leaves: through.",
    ]
    assert words.tables[0].rows == [["2026-01-10 10:00", "which", "var.amount gte 20", "15.00", "does not hold"]]
    against = went({**bob, "against": "it is over", "conditions": [seen], "legs": []})
    assert (against.says, len(against.tables[0].rows)) == (["bob does not enter: it is over."], 1)


def test_a_sample_is_said_to_be_one() -> None:
    ways = [{"node": "which", "way": "1", "to": "greet", "members": 600}]
    found: dict[str, Any] = {"segment": "vip@1", "members": 50_000, "looked_at": 1_000, "entered": 998, "unknown": 2}
    told = would_take({**found, "against": [], "ways": ways, "left": []})
    assert told.says == [
        "A sample: 1,000 of the 50,000 members of vip@1 were looked at.",
        "998 of them would enter.",
        "Of 2 a value cannot be told now.",
    ]
    assert [each.rows for each in told.tables] == [[["which", "1", "greet", 600]]]
    whole = would_take({**found, "members": 1_000, "against": [], "ways": [], "left": []})
    assert whole.says[0] == "All 1,000 members of vip@1 were looked at."


async def test_members_are_counted_at_their_nodes_and_each_is_found(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        ben = await open_desk.inside("ben", "approver:SG")
        waiting = (await ann.submit(PAGE, PAGE, TOML)).headers["location"]
        await ben.send(waiting, f"{waiting}/approve", digest=(await ben.twin(waiting)).json()["digest"])
        (record,) = await JourneyStore(pool).history("welcome")
        trip = Trip(pool, record.document)
        await trip.enter(1, 2, 3)
        await trip.happen(order(9, "m1", after=timedelta(hours=1), amount=Decimal(30)))
        page = (await ann.twin("/journeys/welcome")).json()
        glance = page["members"]["value"]
        assert (glance["entered"], glance["inside"], glance["left"]) == (3, 2, 1)
        counts = {name: each["counts"] for name, each in nodes(page["picture"]).items() if name}
        assert counts["second_order"] == {"waiting": 2, "passed": 1}
        assert counts["thank"] == {"waiting": 0, "passed": 1}
        assert "2 wait here now, 1 passed" in (await ann.see("/journeys/welcome")).text
        report = (await ann.twin("/journeys/welcome/report?from=2026-01-01&to=2026-12-31")).json()["found"]["value"]
        drawn = {line["label"]: sum(line["values"]) for line in report["chart"]["lines"]}
        assert (drawn, report["chart"]["along"]) == ({"entered": 3, "left": 1, "converted": 1}, "days")
        assert {each["node"]: each["came"] for each in report["report"]["nodes"]}["thank"] == 1
        assert (await ann.see("/journeys/welcome/report?from=2026-01-01&to=2026-12-31")).status_code == 200
        sam = await open_desk.inside("sam", "support:SG")
        (visit,) = (await sam.twin("/journeys/welcome/where?member=m2")).json()["found"]["value"]["visits"]
        assert (visit["waits"], [each["woken"] for each in visit["steps"]]) == ("second_order", ["entered"])
        assert "second_order" in (await sam.see("/journeys/welcome/where?member=m2")).text
        assert "It was never inside" in (await sam.see("/journeys/welcome/where?member=nobody")).text
        await post(pool, award("txn:rides:m2", 100, "m2"), award("txn:rides:m1", 100, "m1"))
        (inside,) = (await sam.twin("/members/m2")).json()["journeys"]["value"]
        assert (inside["journey"], inside["node"], inside["left_at"]) == ("welcome", "second_order", None)
        (left,) = (await sam.twin("/members/m1")).json()["journeys"]["value"]
        assert (left["node"], left["why"]) == (None, "through")
        assert "Journeys that the member is in" in (await sam.see("/members/m2")).text
        ida = await open_desk.inside("ida", "support:ID")
        assert (await ida.twin("/members/m2")).json()["journeys"]["value"] == []
        assert (await ida.see("/journeys/welcome/where?member=m2")).status_code == 404
