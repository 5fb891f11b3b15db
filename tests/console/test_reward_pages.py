"""Rewards in the console: drafted, approved by another person, paused and ended; and what a member redeemed."""

import pytest

from abacus.console.errands.store import ErrandStore
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from tests.console.campaigning import cards
from tests.console.desk import desk
from tests.support.rewards import COFFEE, Counter, give_points, load_codes, reward, run_reward
from tests.support.running_campaigns import Stack, run_campaign

TOML = f"""name = "coffee"
about = "A coffee"
country = "SG"
timezone = "Asia/Singapore"
starts_at = {COFFEE["starts_at"]}
ends_at = {COFFEE["ends_at"]}
texts.en = {{ title = "A coffee" }}
price = {{ points = 500 }}
delivery = {{ pool = "coffee_codes", low = 2 }}
limits.uses = {{ overall = 10 }}
"""


async def test_a_reward_from_its_text_to_its_end_by_two_people(pool: Pool) -> None:
    await load_codes(pool, ["A", "B"])
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        ben = await open_desk.inside("ben", "approver:SG")
        bad = await ann.submit("/rewards-draft", "/rewards-draft", TOML.replace("coffee_codes", "tea_codes"))
        assert (bad.status_code, "tea_codes" in bad.text) == (422, True)
        waiting = (await ann.submit("/rewards-draft", "/rewards-draft", TOML)).headers["location"]
        told = await ben.see(waiting)
        assert (told.status_code, "A coffee" in told.text) == (200, True)
        digest = (await ben.twin(waiting)).json()["digest"]
        assert (await ben.send(waiting, f"{waiting}/approve", digest=digest)).status_code == 303
        (row,) = (await ben.twin("/rewards")).json()["list"]["rows"]
        assert (row["name"], row["state"]) == ("coffee", "running")
        assert [(each["name"], each["left"], each["is_low"]) for each in row["used"]] == [
            ("stock", "10", False),
            ("codes of coffee_codes", "2", False),
        ]
        for act, state in (("pause", "paused"), ("resume", "running"), ("end", "ended")):
            moved = await ann.send("/rewards/coffee", "/rewards/coffee/move", act=act, reason="so")
            assert moved.status_code == 303
            assert (await ann.twin("/rewards/coffee")).json()["shown"]["row"]["state"] == state
        assert "/rewards/coffee/move" not in (await ann.see("/rewards/coffee")).text


async def test_campaigns_that_grant_it_stand_on_its_page_and_on_its_draft(pool: Pool) -> None:
    await load_codes(pool, ["A"])
    async with desk(pool) as open_desk:
        await cards(open_desk)
        await run_reward(pool)
        await run_campaign(Stack(Settings(), pool), name="gifts", steps=[{"do": [{"grant": {"reward": "coffee"}}]}])
        ann = await open_desk.inside("ann", "country_editor:SG")
        assert (await ann.twin("/rewards/coffee")).json()["shown"]["granted"] == {
            "campaigns": ["gifts@1"],
            "refused": None,
        }
        draft = await ann.see("/rewards-draft?of=coffee")
        assert "It is granted by gifts@1." in draft.text
        ended = await ann.send("/rewards/coffee", "/rewards/coffee/move", act="end", reason="so")
        told = (await ann.see(ended.headers["location"])).text
        assert "It is granted by gifts@1, and refused: no version of coffee is in force." in told


async def test_a_person_is_told_whether_a_member_can_have_it_and_why_not(pool: Pool) -> None:
    """Of a version, and of a draft; nothing is taken."""
    await load_codes(pool, ["A"])
    await give_points(pool, ["bob"], 700)
    async with desk(pool) as open_desk:
        await cards(open_desk)
        await run_reward(pool)
        ann = await open_desk.inside("ann", "country_editor:SG")
        of = "/rewards/coffee/preview?version=1&member=bob"
        found = (await ann.twin(of)).json()["found"]["value"]
        assert (found["can_have"], found["price"], found["delivered"]) == (True, "500 points", "a code of coffee_codes")
        found = (await ann.twin(f"{of}&quantity=2")).json()["found"]["value"]
        assert [each["reason"] for each in found["against"]] == ["points", "codes"]
        assert "300 points are missing" in (await ann.see(f"{of}&quantity=2")).text
        wrong = (await ann.twin(f"{of}&quantity=x&points=y")).json()["form"]["wrong"]
        assert [*wrong] == ["quantity", "points"]
        wrong = (await ann.twin(f"{of}&at=1975-01-01T00:00")).json()["form"]["wrong"]
        assert wrong == {"at": "SG has no rate card then."}
        ida = await open_desk.inside("ida", "country_editor:ID")
        assert (await ida.twin(of)).status_code == 404
        page, text = "/rewards-draft", TOML.replace("points = 500", "points = 900")
        asked = {"text": text, "shown": text, "act": "preview"}
        shown = (await ann.send_for_twin(page, page, **asked, member="bob")).json()
        assert [each["detail"] for each in shown["preview"]["value"]["against"]] == ["200 points are missing"]
        assert "member" in (await ann.send_for_twin(page, page, **asked)).json()["form"]["wrong"]


async def test_a_draft_is_tried_on_the_past(pool: Pool) -> None:
    """By an errand of exactly this text, with the share of members that the person says."""
    await load_codes(pool, ["A"])
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        page = "/rewards-draft"
        typed = {"text": TOML, "shown": TOML, "act": "backtest", "since": "2026-01-01", "until": "2026-01-31"}
        wrong = (await ann.send_for_twin(page, page, **typed, rate="101")).json()["form"]["wrong"]
        assert [*wrong] == ["rate"]
        assert (await ann.send(page, page, **typed, rate="25")).status_code in {200, 303}
        (asked,) = await open_desk.rooms[ErrandStore].all(["SG"], after=None, limit=9)
        assert asked.kind == "reward-backtest"
        assert asked.arguments[3:] == [
            "--from=2026-01-01",
            "--to=2026-01-31",
            "--take-rate=25",
            "--any-time",
            "--json",
        ]


async def test_what_a_member_redeemed_stands_on_its_page(pool: Pool) -> None:
    await load_codes(pool, ["A"])
    await give_points(pool, ["bob"], 1200)
    await Counter(pool, [reward()]).redeem("1")
    async with desk(pool) as open_desk:
        await cards(open_desk)
        sam = await open_desk.inside("sam", "support:SG")
        (row,) = (await sam.twin("/members/bob")).json()["redemptions"]["value"]
        assert (row["name"], row["gives"], row["state"]) == ("coffee", "500 points", "given")
        assert "What points bought" in (await sam.see("/members/bob")).text
        id_ = await open_desk.inside("ida", "support:ID")
        assert (await id_.twin("/members/bob")).json()["redemptions"]["value"] == []


@pytest.mark.parametrize(
    ("delivery", "act", "state", "points"),
    [({"pool": "coffee_codes"}, "return", "returned", 1200), ({"webhook": "vouchers"}, "cancel", "cancelled", 1200)],
)
async def test_a_redemption_comes_back_by_a_person(
    pool: Pool, delivery: dict[str, str], act: str, state: str, points: int
) -> None:
    await load_codes(pool, ["A"])
    await give_points(pool, ["bob"], 1200)
    counter = Counter(pool, [reward(delivery=delivery)])
    here = f"/redemptions/{(await counter.redeem('1')).redemption_id}"
    async with desk(pool) as open_desk:
        await cards(open_desk)
        sam = await open_desk.inside("sam", "support:SG")
        assert (await sam.send(here, f"{here}/back", act=act, reason="by mistake")).status_code == 303
        assert (await sam.twin(here)).json()["row"]["state"] == state
        assert (await counter.points())[0] == points
