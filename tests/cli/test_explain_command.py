"""`abacus explain` of a campaign's points: decided again from the campaign's document, and from the event."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import abacus
from tests.support.house import House, completed, until
from tests.support.running_campaigns import just_now, run_campaign

RIDES = {"operator": "eq", "lhs": "var.vertical", "rhs": "rides"}
POOR = {"operator": "lt", "lhs": "member.balance", "rhs": 100}


def written(folder: Path, event: dict[str, Any]) -> str:
    file = folder / "event.json"
    file.write_text(json.dumps(event))
    return str(file)


@pytest.mark.long
async def test_a_transaction_is_compared_with_the_redemption_that_it_names(house: House) -> None:
    """Nothing was redeemed under this id."""
    id_ = "03d1a7f0-51b8-8b44-9f2b-1c9f6d1f2a35"
    await house.produce([completed(1, member_id="ann", redemption_id=id_)])
    async with house.running("calculator", "awarder"):
        await until(lambda: one_transfer(house))
    ran = await abacus("explain", "txn:rides:T-1", env=house.environment())
    assert ran.code == 1
    fault = f"neither an offer nor a reward was redeemed for the member as {id_}"
    assert f"  paid with the redemption {id_}\n  recomputed now: same\n  DOES NOT AGREE: {fault}\n" in ran.out
    as_json = await abacus("explain", "txn:rides:T-1", "--json", env=house.environment())
    assert as_json.json["redeemed"] == {"redemption_id": id_, "faults": [fault]}


async def one_transfer(house: House) -> bool:
    return await house.transfers() == 1


@pytest.mark.long
async def test_points_of_a_campaign_are_decided_again(house: House, tmp_path: Path) -> None:
    """By the values that were kept, and by the event where somebody has it. Another event is noticed."""
    when = {"operator": "and", "conditions": [POOR, RIDES]}
    await run_campaign(house, when=when, steps=[{"do": [{"award": {"multiple": "2"}}]}])
    ride = completed(1, member_id="ann", occurred_at=just_now())
    await house.produce([ride])
    async with house.running("calculator", "awarder", "campaigner"):

        async def posted() -> bool:
            return await house.transfers() == 2

        await until(posted)
    env, key = house.environment(), "campaign:market:transactions:transaction.completed:rides:T-1:1"
    ran = await abacus("explain", key, env=env)
    assert ran.code == 0, ran.out + ran.err
    assert "  recomputed now: same\n  agrees: market@1 was approved by person:eve\n" in ran.out
    assert "  agrees: its conditions hold with these values\n" in ran.out
    with_event = await abacus("explain", key, "--event", written(tmp_path, ride), "--json", env=env)
    assert with_event.code == 0, with_event.out
    checks = {each["about"]: each["agrees"] for each in with_event.json["checks"]}
    assert checks == dict.fromkeys(["campaign", "key", "time", "conditions", "step", "points", "event"], True)
    other = await abacus("explain", key, "--event", written(tmp_path, {**ride, "amount": "11.00"}), env=env)
    assert other.code == 1
    assert "  DOES NOT AGREE: its points by SG@1 are" in other.out
    no_campaign = await abacus("explain", "txn:rides:T-1", "--event", written(tmp_path, ride), env=env)
    assert (no_campaign.code, "is not of a campaign" in no_campaign.err) == (2, True)
