"""Offers in the console: what was taken of them, beside their limits."""

import json
from zoneinfo import ZoneInfo

import pytest

from abacus.console.errands.store import ErrandStore
from abacus.core.clock import SystemClock
from abacus.engage.offers.decide.document import toml_of
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.reservation import Redemption
from abacus.engage.offers.desk import OfferDesk
from abacus.engage.offers.offer_store import OfferStore
from abacus.platform.postgres import Pool
from tests.console.campaigning import cards
from tests.console.desk import desk
from tests.engage.offers.taken import Desk, held, redeeming, releasing, rolling_back, wish
from tests.engage.offers.taken import desk as taking_desk
from tests.people.approving import ANN
from tests.support.offers import document, run_offers

LIMITS = {"uses": {"overall": 10, "day": 4}, "money": {"overall": "100"}}


async def in_force(pool: Pool) -> Offer:
    await run_offers(pool, document(limits=LIMITS))
    (record,) = await OfferStore(pool).history("lunch_20")
    return record.document


async def taken(pool: Pool, offer: Offer) -> Redemption:
    """One is held, one released, one redeemed and left so, and one redeemed and rolled back in part, which is returned:
    all of 4.20 in money.
    """
    now = SystemClock().now()
    taking: Desk = taking_desk(pool, SystemClock())
    await held(taking, wish(1, "ann", offer, now))
    await taking.redemptions.settle(releasing(await held(taking, wish(2, "ann", offer, now))))
    await taking.redemptions.settle(redeeming(await held(taking, wish(3, "bob", offer, now)), offer))
    last = await taking.redemptions.settle(redeeming(await held(taking, wish(4, "bob", offer, now)), offer))
    assert last.redemption is not None
    return await taking.redemptions.roll_back(rolling_back(last.redemption, "back", 2_000_000))


async def test_what_was_taken_stands_beside_the_limits(pool: Pool) -> None:
    await taken(pool, await in_force(pool))
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        (row,) = (await ann.twin("/offers")).json()["list"]["rows"]
        assert [(each["name"], each["used"], each["left"]) for each in row["used"]] == [
            ("uses", "3", "7"),
            ("money", "10.60", "89.40"),
            ("uses today", "3", "1"),
        ]
        used = (await ann.twin("/offers/lunch_20")).json()["used"]["value"]
        assert [(each["name"], each["used"], each["reserved"]) for each in used["bars"]] == [
            ("uses", "3", "1"),
            ("money", "10.60", "4.20"),
            ("uses today", "3", "1"),
        ]
        assert [(each["what"], each["times"], each["saves"]) for each in used["lines"]] == [
            ("held", 1, 4.2),
            ("redeemed", 2, 8.4),
            ("released", 1, 4.2),
            ("rolled back", 0, 2.0),
        ]


@pytest.mark.parametrize(
    ("asked", "given", "needs"),
    [
        ("categories=food&price=12", [("lunch_20", "2.40")], {"big_20": "A price of SGD 50.00 or more"}),
        (
            "categories=food,noodles&price=60",
            [],
            {
                "gold_20": "Gold members only",
                "lunch_20": "Not for category noodles",
                "big_20": "Not for category noodles",
            },
        ),
        ("categories=rides&price=60", [], {}),
    ],
)
async def test_a_person_is_told_which_offers_there_are_and_why_not(
    pool: Pool, asked: str, given: list[tuple[str, str]], needs: dict[str, str]
) -> None:
    gold = {"operator": "eq", "lhs": "member.tier", "rhs": "gold"}
    await run_offers(
        pool,
        document(),
        document(name="big_20", price={"from": "50"}),
        document(name="gold_20", when=gold, scope={"categories": ["noodles"]}),
    )
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        found = (await ann.twin(f"/offers-preview?country=SG&{asked}")).json()["found"]["value"]
        assert [(each["name"], each["saves"]) for each in found["given"]] == given
        assert {each["name"]: each["needs"] for each in found["not_given"]} == needs


async def test_a_version_is_looked_at_before_it_is_approved(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        offers = open_desk.rooms[OfferDesk]
        await offers.propose(await offers.read(document(audience="code", code="LUNCH-1"), await offers.around()), ANN)
        ann = await open_desk.inside("ann", "country_editor:SG")
        of = "/offers/lunch_20/preview?version=1&categories=food&price=12"
        (not_given,) = (await ann.twin(of)).json()["found"]["value"]["not_given"]
        assert not_given["needs"] == "A code"
        (given,) = (await ann.twin(f"{of}&code=LUNCH-1")).json()["found"]["value"]["given"]
        assert (given["saves"], given["pays"]) == ("2.40", "9.60")
        wrong = (await ann.twin(f"{of}x")).json()["form"]["wrong"]
        assert [*wrong] == ["price"]
        ida = await open_desk.inside("ida", "country_editor:ID")
        assert (await ida.twin(of)).status_code == 404


async def test_a_redemption_is_found_and_rolled_back_once(pool: Pool) -> None:
    redemption = await taken(pool, await in_force(pool))
    here, act = f"/redemptions/{redemption.redemption_id}", f"/redemptions/{redemption.redemption_id}/back"
    async with desk(pool) as open_desk:
        await cards(open_desk)
        sam = await open_desk.inside("sam", "support:SG")
        every = (await sam.twin("/offers/lunch_20/redemptions")).json()["list"]["value"]["rows"]
        assert sorted(each["state"] for each in every) == ["held", "redeemed", "redeemed", "released"]
        (held_one,) = (await sam.twin("/offers/lunch_20/redemptions?state=held")).json()["list"]["value"]["rows"]
        assert held_one["gives"] == "SGD 4.20"
        of_bob = (await sam.twin("/members/bob")).json()["offers"]["value"]
        assert {each["back"] for each in of_bob} == {"", "SGD 2.00"}
        (found,) = (await sam.twin(f"/search?q={redemption.redemption_id}")).json()["groups"]
        assert found["found"]["value"][0]["title"] == "offer lunch_20"
        for money, reason, wrong in (("9", "so", ["money"]), ("x", "so", ["money"]), ("1", "", ["reason"])):
            refused = await sam.send_for_twin(here, act, act="roll-back", money=money, reason=reason)
            assert (refused.status_code, [*refused.json()["form"]["wrong"]]) == (422, wrong)
        assert (await sam.send(here, act, act="roll-back", money="", reason="wrong basket")).status_code == 303
        row = (await sam.twin(here)).json()["row"]
        assert (row["state"], row["back"]) == ("rolled back", "SGD 4.20")
        assert (await sam.twin(here)).json()["act_options"] == []
        (entry,) = await pool.fetch("select details ->> 'did', subject from audit_log where deed = 'move-points'")
        assert tuple(entry) == ("roll-back", "member:bob")
        ida = await open_desk.inside("ida", "support:ID")
        assert (await ida.twin(here)).status_code == 404


async def test_its_report_is_by_day_and_by_who_pays_in_countries_that_are_seen(pool: Pool) -> None:
    await taken(pool, await in_force(pool))
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann, budi = await open_desk.inside("ann", "viewer:SG"), await open_desk.inside("budi", "viewer:ID")
        today = SystemClock().now().astimezone(ZoneInfo("Asia/Singapore")).date()
        days = f"from={today}&to={today}"
        found = (await ann.twin(f"/offers-report?name=lunch_20&{days}")).json()["found"]["value"]
        (row,) = found["lines"]["rows"]
        assert row[1:] == ["SGD", 0, 4, 2, 1, 0, "6.40", 0]
        assert [line["values"] for line in found["chart"]["lines"]] == [[0], [4], [2]]
        by_payer = (await ann.twin(f"/offers-report?by=cost-centre&{days}")).json()["found"]["value"]["lines"]["rows"]
        assert by_payer == [["marketing", *row[1:]]]
        assert (await budi.twin(f"/offers-report?{days}")).json()["found"]["value"]["lines"]["rows"] == []
        wrong = (await ann.twin("/offers-report?from=2026-03-02&to=2026-03-01")).json()
        assert (wrong["found"], set(wrong["form"]["wrong"])) == (None, {"to"})


async def test_a_draft_is_tried_with_a_request_and_with_the_past(pool: Pool) -> None:
    text = toml_of(document())
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        asked = json.dumps({"country": "SG", "scenario": "best", "items": []})
        tried = {"act": "simulate", "request": asked, "member": "bob"}
        sent = await ann.send("/offers-draft", "/offers-draft", text=text, **tried)
        assert sent.status_code == 200
        (simulation,) = await open_desk.rooms[ErrandStore].all(["SG"], after=None, limit=9)
        assert simulation.arguments == ["offers", "simulate", "offer.toml", "--request=request.json", "--json"]
        assert json.loads(json.loads(simulation.papers)["request.json"])["member_id"] == "bob"
        open_desk.clock.pass_(seconds=1)
        days = {"act": "backtest", "since": "2026-01-01", "until": "2026-01-31"}  # before its own time
        await ann.send("/offers-draft", "/offers-draft", text=text, **days)
        backtest, _ = await open_desk.rooms[ErrandStore].all(["SG"], after=None, limit=9)
        assert backtest.arguments[3:] == ["--from=2026-01-01", "--to=2026-01-31", "--any-time", "--json"]
        for wrong in ({**tried, "request": "{"}, {**days, "since": "x"}):
            refused = await ann.send("/offers-draft", "/offers-draft", text=text, **wrong)
            assert refused.status_code == 422
