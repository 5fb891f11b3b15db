"""`abacus campaigns simulate` and `report`: what would be done, and what was, as people and scripts read it."""

import json
from pathlib import Path
from typing import Any

from abacus.core.clock import SystemClock
from abacus.engage.campaigns.campaign_store import CampaignStore
from abacus.engage.campaigns.effects import Effects
from abacus.engage.campaigns.report import glance
from tests.engage.campaigns.offers import matched, order
from tests.support.commands import abacus
from tests.support.house import House
from tests.support.running_campaigns import run_campaign

ORDER = {
    "type": "transaction.completed",
    "source": "mart",
    "transaction_id": "T-2001",
    "member_id": "bob",
    "country": "SG",
    "vertical": "food",
    "payment_type": "wallet",
    "amount": "15.00",
    "currency": "SGD",
}
FOOD = {"operator": "eq", "lhs": "var.vertical", "rhs": "food"}
POOR = {"operator": "lt", "lhs": "member.balance", "rhs": 100}
POINTS: dict[str, Any] = {"award": {"points": 500}}


def written(folder: Path, **changes: Any) -> str:
    file = folder / "order.json"
    file.write_text(json.dumps({**ORDER, "occurred_at": SystemClock().now().isoformat(), **changes}))
    return str(file)


async def test_simulate_says_each_condition_and_what_would_be_done(house: House, tmp_path: Path) -> None:
    """And does nothing. What is looked up comes last, and not at all where it cannot matter."""
    steps = [{"do": [POINTS, {"tell": {"en": "Thanks\n{{points}} points"}, "after": "2h"}]}]
    await run_campaign(house, when={"operator": "and", "conditions": [POOR, FOOD]}, steps=steps)
    env = {**house.environment(), "COLUMNS": "160"}
    ran = await abacus("campaigns", "simulate", "market", "--event", written(tmp_path), "--json", env=env)
    assert ran.code == 0, ran.err
    assert [tuple(each.values()) for each in ran.json["conditions"]] == [
        ("var.vertical eq food", "food", "event", True),
        ("member.balance lt 100", "0", "member", True),
    ]
    assert (ran.json["outcome"], ran.json["points"]) == ("done", 500)
    assert [each["kind"] for each in ran.json["actions"]] == ["award", "tell"]
    ran = await abacus("campaigns", "simulate", "market", "--event", written(tmp_path, vertical="rides"), env=env)
    assert "member.balance" not in ran.out
    assert ran.out.endswith("market@1 does nothing: its conditions do not hold\n")
    assert await house.pool.fetchval("select count(*) from campaign_claim") == 0


async def test_report_says_what_was_done_by_day_and_arm(house: House) -> None:
    label = await run_campaign(house, steps=[{"do": [POINTS]}], split={"control": 50, "a": 50}, goal=2)
    (campaign,) = await CampaignStore(house.pool).in_force(SystemClock().now())
    assert campaign.label == label
    now = SystemClock().now()
    events = [order(number, f"m{number % 30}")._replace(occurred_at=now) for number in range(45)]
    await Effects(house.pool, SystemClock(), slot=1).decide([matched(campaign, event) for event in events])
    ran = await abacus("campaigns", "report", "market", "--json", env=house.environment())
    assert ran.code == 0, ran.err
    arms = {each["variant"]: each for each in ran.json["arms"]}
    assert (arms["a"]["members"] + arms["control"]["members"], ran.json["events"]) == (30, 45)
    assert arms["a"]["conversions"] + arms["control"]["conversions"] == 15
    assert arms["a"]["points"] == 500 * sum(each["events"] for each in ran.json["days"] if each["outcome"] == "done")
    assert arms["a"]["interval"]["low"] < arms["a"]["share"] < arms["a"]["interval"]["high"]
    assert ran.json["comes_out"]
    shown = await abacus("campaigns", "report", "market", env={**house.environment(), "COLUMNS": "160"})
    assert "awards: 0 posted of 0 on the award queue" in shown.out
    assert (await abacus("campaigns", "report", "nothing", env=house.environment())).code == 1
    at_a_glance = {most: (await glance(house.pool, campaign, most=most)).arms for most in (29, 30)}
    assert at_a_glance[29] is None
    assert at_a_glance[30] is not None
    assert sum(each.members for each in at_a_glance[30]) == 30
