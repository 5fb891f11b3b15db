"""Campaigns in the console: drafted, approved by another person, paused and ended, and read as sentences."""

import json
from datetime import UTC, timedelta

import pytest

from abacus.console.decide.trials import simulated
from abacus.console.errands.store import ErrandStore
from abacus.core.document_text import read_toml
from abacus.documents.form.sentences import sentences
from abacus.documents.store import DocumentStore
from abacus.engage.campaigns.decide.campaign_form import CAMPAIGN_FORM
from abacus.engage.campaigns.decide.document import to_document
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.platform.postgres import Pool
from abacus.signals.counters.decide.definition_document import parse_definition
from abacus.signals.counters.kind import COUNTERS, held_sources
from abacus.signals.events.decide.builtin import built_in
from tests.console.asking import BACKTEST, BACKTESTED, TRIAL, errand
from tests.console.campaigning import MARKET, TOML, cards, submitted
from tests.console.desk import Browser, Desk, desk
from tests.people.approving import ANN
from tests.support.counters import save_counts


async def approve(open_desk: Desk, browser: Browser, path: str) -> None:
    page = await browser.see(path)
    assert page.status_code == 200
    digest = (await browser.twin(path)).json()["digest"]
    answer = await browser.send(path, f"{path}/approve", digest=digest)
    assert answer.status_code == 303


async def test_a_campaign_from_its_text_to_its_end_by_two_people(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG", "approver:SG")
        ben = await open_desk.inside("ben", "approver:SG")
        checked = await ann.send("/campaigns-draft", "/campaigns-draft", text=TOML, act="check")
        assert checked.status_code == 200
        assert "award 5 points" in checked.text
        assert (await ann.see("/campaigns/market")).status_code == 404
        sent = await ann.submit("/campaigns-draft", "/campaigns-draft", TOML)
        assert sent.status_code == 303
        waiting = sent.headers["location"]
        assert f"{waiting}/approve" not in (await ann.see(waiting)).text
        await approve(open_desk, ben, waiting)
        assert (await ann.twin("/campaigns/market")).json()["shown"]["row"]["state"] == "running"

        missing = await ann.send("/campaigns/market", "/campaigns/market/move", act="pause", reason="")
        assert (missing.status_code, "Say why" in missing.text) == (422, True)
        for act, state in (("pause", "paused"), ("resume", "running"), ("end", "ended")):
            moved = await ann.send("/campaigns/market", "/campaigns/market/move", act=act, reason="so")
            assert moved.status_code == 303
            assert (await ann.twin("/campaigns/market")).json()["shown"]["row"]["state"] == state
        assert "/campaigns/market/move" not in (await ann.see("/campaigns/market")).text


async def test_every_fault_stands_beside_the_text_that_was_typed(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        bad = TOML.replace("points = 5", "points = -5").replace("transaction.completed", "transaction.complete")
        answer = await ann.submit("/campaigns-draft", "/campaigns-draft", bad)
        assert answer.status_code == 422
        assert "points = -5" in answer.text
        for path in ("on", "steps[0].do[0].award.points"):
            assert path in answer.text
        assert "line 1" in (await ann.send("/campaigns-draft", "/campaigns-draft", text="x = = 1", act="check")).text


@pytest.mark.long
async def test_another_version_ends_what_waited(pool: Pool) -> None:
    """What is approved is bound to its content."""
    async with desk(pool) as open_desk:
        first = await submitted(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        ben = await open_desk.inside("ben", "approver:SG")
        text = (await ann.twin("/campaigns-draft?of=market")).json()["draft"]["text"].replace("500", "600")
        sent = await ann.submit("/campaigns-draft?of=market", "/campaigns-draft", text)
        assert sent.status_code == 303
        assert (await ben.twin(f"/approvals/{first.approval_id}")).json()["approval"]["status"] == "void"
        await approve(open_desk, ben, sent.headers["location"])
        assert "award 600 points" in (await ann.see("/campaigns/market")).text


@pytest.mark.parametrize(
    ("roles", "seen", "moved"),
    [
        (["viewer:SG"], 200, 403),
        (["country_editor:ID"], 404, 404),
        (["country_editor:ID", "viewer:SG"], 200, 403),
        (["country_editor:SG"], 200, 303),
    ],
)
async def test_a_campaign_is_open_to_those_of_its_country(pool: Pool, roles: list[str], seen: int, moved: int) -> None:
    async with desk(pool) as open_desk:
        await submitted(open_desk)
        kim = await open_desk.inside("kim", *roles)
        assert (await kim.see("/campaigns/market")).status_code == seen
        assert ("market" in (await kim.see("/campaigns")).text) is (seen == 200)
        token = (await kim.see("/me")).text.partition('name="form" value="')[2].partition('"')[0]
        form = {"form": token, "act": "withdraw", "reason": "so"}
        assert (await kim.client.post("/campaigns/market/move", data=form)).status_code == moved


async def test_a_draft_of_the_same_name_tells_nothing_of_a_campaign_elsewhere(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        approval = await submitted(open_desk)
        await approve(open_desk, await open_desk.inside("ben", "approver:SG"), f"/approvals/{approval.approval_id}")
        kim = await open_desk.inside("kim", "country_editor:ID")
        text = TOML.replace('"SG"', '"ID"').replace("Singapore", "Jakarta")
        shown = await kim.send_for_twin("/campaigns-draft", "/campaigns-draft", text=text, shown=text, act="check")
        assert (shown.status_code, shown.json()["changes"]) == (422, None)
        assert shown.json()["fault"] == "market is a campaign of a country that is not open to you."


async def test_what_people_wrote_is_text(pool: Pool) -> None:
    evil = "<script>alert(1)</script>"
    async with desk(pool) as open_desk:
        await submitted(open_desk, about=evil, steps=[{"do": [{"tell": {"en": f"{evil}\n{evil}"}}]}])
        eve = await open_desk.inside("eve", "admin")
        for path in ("/campaigns", "/campaigns/market", "/campaigns-draft?of=market"):
            page = await eve.see(path)
            assert page.status_code == 200
            assert evil not in page.text
            assert "&lt;script&gt;" in page.text


async def test_what_it_says(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await submitted(open_desk)
        (record,) = await open_desk.rooms[CampaignDesk].history("market")
    told = sentences(CAMPAIGN_FORM, to_document(record.document))
    assert [(each.depth, f"{each.begins} {each.says}".strip()) for each in told] == [
        (0, "From 2026-01-01 00:00 until 2036-01-01 00:00, Asia/Singapore"),
        (0, "When transactions/transaction.completed happens in SG"),
        (0, "if one of these holds"),
        (1, "var.vertical is food"),
        (1, "or var.amount is at least 20"),
        (0, "then at event 3:"),
        (1, "award 500 points"),
        (1, "tell the member “Thanks” (en), 2h later"),
        (0, "at most 1,000 runs altogether"),
        (0, "at most 1 run for each member"),
        (0, "at most 50 of budget altogether"),
    ]


@pytest.mark.long
async def test_a_draft_is_tried_before_it_is_submitted_and_its_trials_stand_where_it_is_approved(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG", "approver:SG")
        ben = await open_desk.inside("ben", "approver:SG")
        event = '{"type": "transaction.completed"}'
        tried = await ann.send(
            "/campaigns-draft", "/campaigns-draft", text=TOML, act="simulate", event=event, member="-bob"
        )
        assert tried.status_code == 200
        (simulation,) = await open_desk.rooms[ErrandStore].all(["SG"], after=None, limit=9)
        assert simulation.arguments == [
            "campaigns",
            "simulate",
            "campaign.toml",
            "--event=event.json",
            "--member=-bob",
            "--json",
        ]
        assert json.loads(simulation.papers)["event.json"] == event
        assert f"/campaign-trials/{simulation.errand_id}" in tried.text
        open_desk.clock.pass_(seconds=1)
        days = {"since": "2026-11-01", "until": "2026-11-07"}
        await ann.send("/campaigns-draft", "/campaigns-draft", text=TOML, act="backtest", **days)
        backtest, _ = await open_desk.rooms[ErrandStore].all(["SG"], after=None, limit=9)
        assert backtest.arguments[3:] == [
            "--from=2026-11-01T00:00:00+08:00",
            "--to=2026-11-08T00:00:00+08:00",
            "--json",
        ]
        for wrong in ({"event": "{"}, {"since": "x"}, {"since": "2026-11-09"}):
            act = "simulate" if "event" in wrong else "backtest"
            refused = await ann.send("/campaigns-draft", "/campaigns-draft", text=TOML, act=act, **{**days, **wrong})
            assert refused.status_code == 422
        assert len(await open_desk.rooms[ErrandStore].all(None, after=None, limit=9)) == 2
        sent = await ann.submit("/campaigns-draft", "/campaigns-draft", TOML)
        shown = (await ben.twin(sent.headers["location"])).json()
        assert [each["done"]["errand"]["errand_id"] for each in shown["trials"]["value"]] == [
            str(simulation.errand_id),
            str(backtest.errand_id),
        ]
        assert (await ben.see(shown["trial_page"])).status_code == 200
        # Another text is another campaign: nobody tried that one.
        other = TOML.replace("points = 5", "points = 6")
        sent = await ann.submit("/campaigns-draft", "/campaigns-draft", other)
        assert (await ben.twin(sent.headers["location"])).json()["trials"]["value"] == []


async def test_what_trials_say(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await errand(open_desk, TRIAL, BACKTEST, document=BACKTESTED)
        ann = await open_desk.inside("ann", "viewer:SG")
        shown = (await ann.twin(f"/campaign-trials/{TRIAL}")).json()["trial"]
        assert shown["words"]["says"] == [
            "12,345 events read, 40 of them decided.",
            "7 members would have got 1,500 points, one of them 500.",
            "It would have cost 15.00 of its budget.",
            "Its liability is 13.50 SGD.",
        ]
        assert [line["values"] for line in shown["words"]["chart"]["lines"]] == [[3]]
        budi = await open_desk.inside("budi", "viewer:ID")
        assert (await budi.twin(f"/campaign-trials/{TRIAL}")).status_code == 404


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"conditions": [], "against": "the event has no member"}, ["Nothing is done: the event has no member."]),
        (
            {
                "conditions": [],
                "against": None,
                "outcome": "done",
                "count": 3,
                "variant": "b",
                "points": 1500,
                "refused_by": None,
                "actions": [{"kind": "award", "receiver": "bob", "due_at": "2026-01-10"}],
            },
            ["The event is done at count 3, in the arm b: 1,500 points.", "award to bob, due 2026-01-10"],
        ),
    ],
)
def test_what_a_simulation_says(document: dict[str, object], says: list[str]) -> None:
    assert simulated(document).says == says


@pytest.mark.long
async def test_the_version_that_is_shown_is_the_one_that_is_moved(pool: Pool) -> None:
    """A draft beside a version that runs: each has its own acts."""
    async with desk(pool) as open_desk:
        first = await submitted(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        ben = await open_desk.inside("ben", "approver:SG")
        await approve(open_desk, ben, f"/approvals/{first.approval_id}")
        text = (await ann.twin("/campaigns-draft?of=market")).json()["draft"]["text"].replace("500", "600")
        await ann.submit("/campaigns-draft?of=market", "/campaigns-draft", text)
        market, second = "/campaigns/market", "/campaigns/market?version=2"

        async def states() -> list[str]:
            return [*(await ann.twin(market)).json()["shown"]["states"].values()]

        assert await states() == ["submitted", "running"]
        shown = (await ann.twin(market)).json()["shown"]
        assert (shown["row"]["version"], shown["newer"]["version"]) == (1, 2)
        assert (await ann.send(second, f"{market}/move", act="withdraw", reason="so")).status_code == 303
        assert (await ann.send(market, f"{market}/move", act="pause", reason="so")).status_code == 303
        assert await states() == ["draft", "paused"]
        assert (await ann.send(second, f"{market}/move", act="end", reason="so")).status_code == 303
        assert await states() == ["ended", "paused"]
        assert (await ann.twin(f"{market}?version=7")).status_code == 404


async def test_the_list_goes_on_at_its_cursor(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await submitted(open_desk)
        insert = (
            "insert into campaign select 'c' || n, version, country, starts_at, ends_at,"
            " jsonb_set(document::jsonb, '{name}', to_jsonb('c' || n))::json, status, drafted_at, drafted_by,"
            " changed_at, changed_by, approved_by, approved_at, reason from campaign, generate_series(100, 160) n"
        )
        await pool.execute(insert)
        ann = await open_desk.inside("ann", "viewer:SG")
        names, address = list[str](), "/campaigns?state=submitted"
        while address:
            page = (await ann.twin(address)).json()["list"]
            names += [each["name"] for each in page["rows"]]
            address = page["more"]
        assert names == sorted([*(f"c{n}" for n in range(100, 161)), "market"])
        assert (await ann.twin("/campaigns?state=else")).status_code == 404


async def test_a_draft_begins_with_a_template_or_with_a_copy(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await submitted(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        # Those of the demo's own events are not offered in a house without these.
        offered = [name for name, _ in (await ann.twin("/campaigns-draft")).json()["templates"]]
        assert offered == ["third_meal", "two_rides", "weekend_groceries"]
        for name in offered:
            begun = (await ann.twin(f"/campaigns-draft?template={name}")).json()
            assert (begun["faults"], read_toml(begun["draft"]["text"])["name"]) == ({"at": {}, "elsewhere": []}, name)
        copied = (await ann.twin("/campaigns-draft?of=market&copy=yes")).json()
        assert read_toml(copied["draft"]["text"])["name"] == "market_copy"
        assert copied["changes"]["against"] is None


async def test_a_campaign_of_another_country_is_refused_and_nothing_typed_is_lost(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:ID")
        refused = await ann.send_for_twin("/campaigns-draft", "/campaigns-draft", text=TOML, shown=TOML, act="submit")
        assert (refused.status_code, refused.json()["draft"]["text"]) == (422, TOML)
        assert "SG" in refused.json()["fault"]


async def test_a_campaign_is_drawn_by_its_own_sums_by_day_and_arm(pool: Pool) -> None:
    """Days without any are zeros, and what was refused is no run."""
    async with desk(pool) as open_desk:
        approval = await submitted(open_desk)
        await approve(open_desk, await open_desk.inside("ben", "approver:SG"), f"/approvals/{approval.approval_id}")
        ann = await open_desk.inside("ann", "viewer:SG")
        assert (await ann.twin("/campaigns/market")).json()["done"]["value"]["chart"] is None
        today = open_desk.clock.now().astimezone(UTC).date()
        sums = [(5, "a", "done", 3), (3, "a", "done", 4), (4, "b", "done", 1), (1, "b", "refused:overall.runs", 9)]
        for back, arm, outcome, events in sums:
            await pool.execute(
                "insert into campaign_sum values ('market', 1, $1, $2, $3, 0, $4, 0, 0)",
                *(today - timedelta(days=back), arm, outcome, events),
            )
        drawn = (await ann.twin("/campaigns/market")).json()["done"]["value"]["chart"]
        assert [(line["label"], line["values"]) for line in drawn["lines"]] == [("a", [3, 0, 4]), ("b", [0, 1, 0])]
        assert (drawn["along"], drawn["is_open"]) == ("days", False)
        rooms = open_desk.rooms[CampaignDesk]
        await rooms.propose(await rooms.read({**MARKET, "timezone": "America/New_York"}), ANN)  # nobody approves it
        for version in (1, 2):
            here = (await ann.twin(f"/campaigns/market?version={version}")).json()["done"]["value"]["chart"]
            assert here == drawn


async def test_a_campaign_is_drawn_by_the_counters_of_points_by_their_source(pool: Pool) -> None:
    """A counter of other keys, and one that counts something else, has nothing to say of it."""
    async with desk(pool) as open_desk:
        approval = await submitted(open_desk)
        await approve(open_desk, await open_desk.inside("ben", "approver:SG"), f"/approvals/{approval.approval_id}")
        ann = await open_desk.inside("ann", "viewer:SG")
        assert (await ann.twin("/campaigns/market")).json()["counted"]["value"] is None
        sources = built_in(transactions_topic="t", points_topic="p", tiers_topic="l")
        by_name = {each.name: each for each in sources}
        drafts = [
            parse_definition({"on": ["abacus.points.earned.v1"], **each}, by_name)
            for each in (
                {"id": 1, "name": "points_from", "template": "points_from:{source}", "add": "var.points"},
                {"id": 2, "name": "points_of", "template": "points_of:{member_id}:{source}"},
                {"id": 3, "name": "spent", "template": "spent:{source}", "on": ["transactions/transaction.completed"]},
            )
        ]
        now = open_desk.clock.now()
        published = await DocumentStore(pool, COUNTERS).publish(drafts, held_sources(sources), by="tests", now=now)
        hour = now.replace(minute=0, second=0, microsecond=0)
        key = "points_from:campaign:market"
        await save_counts(pool, published[0].document, key, [("hours", hour.isoformat(), 500)])
        drawn = (await ann.twin("/campaigns/market")).json()["counted"]["value"]
        (line,) = drawn["lines"]
        assert (line["label"], line["values"][-1], sum(line["values"]), drawn["is_open"]) == (
            "points_from",
            500,
            500,
            True,
        )
        assert "By the hour, as counters have it" in (await ann.see("/campaigns/market")).text
