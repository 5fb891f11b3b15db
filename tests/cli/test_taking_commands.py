"""Support asks for offers, takes them and gives back by commands, as a shop does over HTTP."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.people.store.audit import log
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardStore
from tests.support.commands import Ran, abacus
from tests.support.offers import PIZZA, document, run_offers
from tests.support.rewards import COFFEE, Counter, give_points, load_codes, reward, run_reward
from tests.support.staff import hire

pytestmark = [pytest.mark.once, pytest.mark.long]

Command = Callable[..., Awaitable[Ran]]
EMPLOYED: Final = {"sam": "support:SG", "kim": "support:ID"}
OPEN: Final[dict[str, Any]] = {"scope": {"everything": True}, "limits": {"unlimited": True}, "stack": "always"}
OFFERS: Final = (
    document(name="tenth", benefit={"percent": "10"}, **OPEN),
    document(name="bonus", benefit={"points_plus": 50}, **OPEN),
    document(name="dear", benefit={"amount_off": "1"}, price={"from": "100"}, **OPEN),
)


@pytest.fixture
async def command(pool: Pool, database_url: str) -> Command:
    for card in example_cards():
        await CardStore(pool).publish(card, by="tests", now=SystemClock().now())
    tokens = {name: await hire(pool, name, role) for name, role in EMPLOYED.items()}

    async def run(*words: object, by: str = "sam") -> Ran:
        env = {"ABACUS_DATABASE_URL": database_url, "ABACUS_TOKEN": tokens[by], "COLUMNS": "300"}
        return await abacus(*map(str, words), env=env)

    return run


def written(folder: Path, body: dict[str, Any]) -> Path:
    file = folder / "body.json"
    file.write_text(json.dumps(body))
    return file


async def logged(pool: Pool) -> list[tuple[str, str | None, str | None]]:
    """Who did what, and why."""
    details = [(each.actor, json.loads(each.details)) for each in await log(pool, limit=20)]
    return [(actor, told.get("did"), told.get("reason")) for actor, told in details]


async def test_offers_are_asked_for(command: Command, pool: Pool, tmp_path: Path) -> None:
    await run_offers(pool, *OFFERS)
    ask = {"member_id": "bob", "country": "SG", "scenario": "best", "items": [PIZZA], "explain": True}
    file = written(tmp_path, ask)
    answered = (await command("offers", "qualify", file, "--json")).json
    (item,) = answered["items"]
    assert (item["best"]["offer"], item["best"]["saves"], answered["reserved"]) == ("tenth", "1.20", False)
    assert [each["offer"] for each in item["refused"]] == ["dear"]
    shown = (await command("offers", "qualify", file)).out
    assert "tenth@1" in shown
    assert "What came close" in shown
    assert (await command("offers", "qualify", file, by="kim")).code == 2
    named = {"country": "SG", "items": [PIZZA], "offers": ["tenth", "dear", "none"]}
    verdicts = (await command("offers", "validate", written(tmp_path, named), "--json")).json["offers"]
    assert [each.get("saves") or each["refused"]["reason"] for each in verdicts] == ["1.20", "price", "not-in-force"]
    wrong = await command("offers", "qualify", written(tmp_path, {**ask, "items": [{**PIZZA, "currency": "IDR"}]}))
    assert (wrong.code, "the currency of the country is SGD" in wrong.err) == (2, True)
    assert await pool.fetchval("select count(*) from offer_reservation") == 0


async def test_an_offer_is_tried_by_people_of_its_country(command: Command, pool: Pool, tmp_path: Path) -> None:
    """And by people of the country that a request is about."""
    await run_offers(pool, *OFFERS)
    ask = {"country": "SG", "scenario": "best", "items": [PIZZA]}
    simulate = ("offers", "simulate", "tenth", "--request")
    assert "tenth fits" in (await command(*simulate, written(tmp_path, ask))).out
    assert (await command(*simulate, written(tmp_path, ask), by="kim")).code == 2
    elsewhere = await command(*simulate, written(tmp_path, {**ask, "country": "ID"}))
    assert (elsewhere.code, "sam may not see in ID" in elsewhere.err) == (2, True)
    backtest = ("offers", "backtest", "tenth", "--from", "2026-03", "--to", "2026-03", "--any-time")
    assert (await command(*backtest, "--json")).json["purchases"] == 0
    assert (await command(*backtest, by="kim")).code == 2


async def test_an_offer_is_reserved_redeemed_and_rolled_back(command: Command, pool: Pool, tmp_path: Path) -> None:
    """Each once, by people whose role is of the country; who gave something back stands in the log."""
    await run_offers(pool, *OFFERS)
    order = written(tmp_path, {"member_id": "bob", "items": [PIZZA], "offers": ["tenth", "bonus"]})
    assert (await command("offers", "reserve", order, by="kim")).code == 2
    first, again = [(await command("offers", "reserve", order, "--key", "1", "--json")).json for _ in range(2)]
    assert (first["replayed"], again) == (False, {**first, "replayed": True})
    tenth, bonus = (each["reservation_id"] for each in first["reservations"])
    basket = {"items": [{**PIZZA, "price": "20.00"}]}
    changed = await command("offers", "redeem", tenth, written(tmp_path, basket))
    assert (changed.code, "it saves 2.00 and gives 0 points now" in changed.err) == (2, True)
    paid = written(tmp_path, {**basket, "saves": "2.00"})
    assert (await command("offers", "redeem", tenth, paid, by="kim")).code == 2
    redeemed = await command("offers", "redeem", tenth, paid, "--json")
    assert (redeemed.code, redeemed.json["saves"], redeemed.json["replayed"]) == (0, "2.00", False)
    assert (await command("offers", "redeem", tenth, paid, "--json")).json["replayed"] is True
    back, part = ("offers", "rollback", redeemed.json["redemption_id"], "--reason", "cold"), ("--saves", "0.50")
    for words, expected in (((*part, "--key", "a"), "0.50"), ((*part, "--key", "a"), "0.50"), ((), "2.00")):
        assert (await command(*back, *words, "--json")).json["saves_rolled_back"] == expected
    released = await command("offers", "release", bonus, "--reason", "left")
    assert (released.code, "bonus@1" in released.out, "released" in released.out) == (0, True, True)
    did = await logged(pool)
    assert ("person:sam", "roll-back", "cold") in did
    assert ("person:sam", "release", "left") in did


async def test_a_reward_comes_back(command: Command, pool: Pool) -> None:
    await load_codes(pool, ["A"])
    await give_points(pool, ["bob"], 500)
    await run_reward(pool)
    shop = Counter(pool, [reward()])
    bought = await shop.redeem("1")
    refused = await command("rewards", "cancel", bought.redemption_id, "--reason", "x")
    assert (refused.code, "given" in refused.err) == (2, True)
    assert (await command("rewards", "return", bought.redemption_id, "--reason", "x", by="kim")).code == 2
    returned = await command("rewards", "return", bought.redemption_id, "--reason", "cold")
    assert (returned.code, "is returned; 500 points are back" in returned.out) == (0, True)
    assert await shop.points() == (500, 0)
    assert ("person:sam", "return", "cold") in await logged(pool)


async def test_a_reward_is_tried_and_redeemed_for_a_member(command: Command, pool: Pool, tmp_path: Path) -> None:
    """By people whose role is of the country; what is done again under its key is done once."""
    await load_codes(pool, ["A", "B"])
    await give_points(pool, ["bob"], 700)
    await run_reward(pool)
    await run_reward(pool, name="cake", price={"points": 900})
    listed = (await command("rewards", "available", "--member", "bob", "--json")).json["rewards"]
    assert [(each["name"], [lock["reason"] for lock in each["locks"]]) for each in listed] == [
        ("coffee", []),
        ("cake", ["points"]),
    ]
    assert "200 points are missing" in (await command("rewards", "available", "--member", "bob")).out
    assert (await command("rewards", "available", "--member", "bob", by="kim")).code == 1
    tried = await command("rewards", "simulate", "coffee", "--member", "bob")
    assert "bob can have coffee@1 for 500 points of GRP" in tried.out
    draft = tmp_path / "coffee.json"
    draft.write_text(json.dumps({**COFFEE, "price": {"points": 800}}))
    dear = (await command("rewards", "simulate", draft, "--member", "bob", "--json")).json
    assert (dear["can_have"], [each["reason"] for each in dear["locks"]]) == (False, ["points"])
    assert (await command("rewards", "simulate", "coffee", "--member", "bob", by="kim")).code == 2
    order = ("rewards", "redeem", "coffee", "--member", "bob", "--reason", "asked by phone", "--key", "1")
    assert (await command(*order, by="kim")).code == 2
    first, again = [(await command(*order, "--json")).json for _ in range(2)]
    assert (first["status"], first["points"], again) == ("given", 500, first)
    refused = await command("rewards", "redeem", "cake", "--member", "bob", "--reason", "x")
    assert (refused.code, "bob cannot have cake (points: " in refused.err) == (2, True)
    assert await Counter(pool, []).points() == (200, 0)
    assert ("person:sam", "redeem", "asked by phone") in await logged(pool)


async def test_a_reward_is_tried_on_the_past(command: Command, pool: Pool) -> None:
    await load_codes(pool, ["A", "B"])
    await give_points(pool, ["ann", "bob", "cleo"], 700)
    await run_reward(pool, limits={"uses": {"member": 1}})
    today = SystemClock().now().astimezone(ZoneInfo("Asia/Singapore")).date()
    over = ("rewards", "backtest", "coffee", "--from", today, "--to", today)
    told = (await command(*over, "--json")).json
    assert (told["could_afford"], told["pieces"], told["points"], told["without"]) == (3, 2, 1000, 1)
    assert (told["codes"], told["gone_on"], told["first_could_afford"]) == (2, str(today), str(today))
    assert [(each["tier"], each["could"], each["pieces"]) for each in told["tiers"]] == [("member", 3, 2)]
    shown = (await command(*over, "--take-rate", "1")).out
    assert "3 members could have afforded it" in shown
    assert "assumed: 1 of 100 members, drawn by their ids" in shown
    assert (await command(*over, by="kim")).code == 2
    assert await pool.fetchval("select count(*) from reward_redemption") == 0
