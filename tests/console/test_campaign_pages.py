"""Campaigns in the console: drafted, approved by another person, paused and ended, and read as sentences."""

import pytest

from abacus.console.decide.sentences import sentences_of
from abacus.platform.postgres import Pool
from tests.console.campaigning import TOML, cards, submitted
from tests.console.desk import Browser, Desk, desk


async def approve(open_desk: Desk, browser: Browser, path: str) -> None:
    page = await browser.see(path)
    assert page.status_code == 200
    digest = (await browser.twin(path)).json()["approval"]["digest"]
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
        sent = await ann.send("/campaigns-draft", "/campaigns-draft", text=TOML, act="submit")
        assert sent.status_code == 303
        waiting = sent.headers["location"]
        assert f"{waiting}/approve" not in (await ann.see(waiting)).text
        await approve(open_desk, ben, waiting)
        assert (await ann.twin("/campaigns/market")).json()["campaign"]["state"] == "running"

        missing = await ann.send("/campaigns/market", "/campaigns/market/move", act="pause", reason="")
        assert (missing.status_code, "Say why" in missing.text) == (422, True)
        for act, state in (("pause", "paused"), ("resume", "running"), ("end", "ended")):
            moved = await ann.send("/campaigns/market", "/campaigns/market/move", act=act, reason="so")
            assert moved.status_code == 303
            assert (await ann.twin("/campaigns/market")).json()["campaign"]["state"] == state
        assert "/campaigns/market/move" not in (await ann.see("/campaigns/market")).text


async def test_every_fault_stands_beside_the_text_that_was_typed(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        bad = TOML.replace("points = 5", "points = -5").replace("transaction.completed", "transaction.complete")
        answer = await ann.send("/campaigns-draft", "/campaigns-draft", text=bad, act="submit")
        assert answer.status_code == 422
        assert "points = -5" in answer.text
        for path in ("on", "steps[0].do[0].award.points"):
            assert path in answer.text
        assert "line 1" in (await ann.send("/campaigns-draft", "/campaigns-draft", text="x = = 1", act="check")).text


async def test_another_version_ends_what_waited(pool: Pool) -> None:
    """What is approved is bound to its content."""
    async with desk(pool) as open_desk:
        first = await submitted(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        ben = await open_desk.inside("ben", "approver:SG")
        text = (await ann.twin("/campaigns-draft?of=market")).json()["text"].replace("500", "600")
        sent = await ann.send("/campaigns-draft?of=market", "/campaigns-draft", text=text, act="submit")
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
        (record,) = await open_desk.backends.campaigns.history("market")
    assert [(each.depth, f"{each.begins} {each.says}".strip()) for each in sentences_of(record.campaign)] == [
        (0, "When transactions/transaction.completed happens in SG"),
        (0, "if one of these holds"),
        (1, "var.vertical is food"),
        (1, "or var.amount is at least 20"),
        (0, "then at event 3:"),
        (1, "award 500 points"),
        (1, "tell the member “Thanks” (en), 2h later"),
        (0, "at most 1,000 runs and 50.00 of budget altogether"),
        (0, "at most 1 runs for each member"),
    ]
