"""`abacus campaigns simulate` and `report`: what would be done, and what was, as people and scripts read it."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

from abacus.core.clock import SystemClock
from abacus.documents.directory import read_moment
from abacus.engage.campaigns.campaign_store import CampaignStore
from abacus.engage.campaigns.directory import CampaignDirectory
from abacus.engage.campaigns.effects import Effects
from abacus.engage.campaigns.report import glance
from abacus.engage.notify.decide.message import ChannelName
from abacus.engage.notify.kind import CONTACT_POLICIES, policies_of
from abacus.engage.notify.notices import Notices
from tests.engage.campaigns.offers import SOURCES, matched, order
from tests.engage.notify.promoting import promoted
from tests.engage.notify.telling import gather
from tests.support.commands import abacus
from tests.support.contact import publish_contact
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


async def test_a_campaign_says_what_it_withholds(house: House, tmp_path: Path) -> None:
    await publish_contact(house.pool, holdout=50, caps={"sns": {"marketing": "1 a day"}})
    await run_campaign(house, steps=[{"do": [POINTS]}], respects_holdout=True)
    env = {**house.environment(), "COLUMNS": "160"}
    outcomes = {}
    for member in ("bob", "ann"):
        ran = await abacus(
            "campaigns", "simulate", "market", "--event", written(tmp_path, member_id=member), "--json", env=env
        )
        outcomes[member] = ran.json["outcome"]
    assert outcomes == {"bob": "holdout", "ann": "done"}
    now = SystemClock().now()
    notices, policies = Notices(house.pool, SystemClock()), policies_of(await read_moment(house.pool, CONTACT_POLICIES))
    told = [promoted(member, number, now, campaign="market") for member in ("bob", "ann") for number in range(3)]
    await notices.enter(told, gathered_for=timedelta(0))
    await gather(notices, (ChannelName.SNS,), policies)
    ran = await abacus("campaigns", "report", "market", "--json", env=env)
    assert ran.json["untold"] == [
        {"channel": "sns", "cause": "cap", "messages": 2},
        {"channel": "sns", "cause": "holdout", "messages": 3},
    ]
    assert "Never told" in (await abacus("campaigns", "report", "market", env=env)).out


async def test_a_published_holdout_holds_for_campaigns_that_run(house: House) -> None:
    await run_campaign(house, steps=[{"do": [POINTS]}], respects_holdout=True)
    directory = CampaignDirectory(house.pool, SOURCES.values(), SystemClock())
    shares = []
    fields: dict[str, Any]
    for fields in ({"holdout": 5}, {"holdout": 10}, {"quiet_hours": "21:00-08:00"}):
        await publish_contact(house.pool, **fields)
        await directory.refresh()
        (armed,) = directory.value().index.answering(order(1)._replace(occurred_at=SystemClock().now()))
        shares.append(armed.holdout)
    assert shares == [5, 10, 0]
