"""`abacus campaigns backtest`: what would have been done is what is done."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Ran, abacus
from tests.support.house import House, completed, until
from tests.support.offers import LUNCH, run_offers
from tests.support.rewards import load_codes, run_reward
from tests.support.running_campaigns import HERE, run_campaign

STEPS: list[dict[str, Any]] = [{"every": 2, "do": [{"award": {"points": 100}}]}]
LIMITS = {"runs": {"overall": 25, "member": 4}, "budget": {"overall": "100.00", "cost_of_point": "0.01"}}


@pytest.mark.long
async def test_it_says_what_a_campaign_then_does(house: House, tmp_path: Path) -> None:
    """Over messages that came twice, and some that are garbage; with limits that are met."""
    label = await run_campaign(house, steps=STEPS, limits=LIMITS)
    now = datetime.now(UTC)  # not before the campaign was approved
    events = [completed(number, member_id=f"m{number % 10}", occurred_at=now.isoformat()) for number in range(100)]
    await house.produce([*events, b"{garbage", *events])
    file = tmp_path / "draft.json"
    times = {"starts_at": "2025-01-01T00:00:00+08:00", "ends_at": (now + timedelta(days=900)).isoformat()}
    file.write_text(json.dumps({**HERE, **times, "steps": STEPS, "limits": LIMITS}))
    window = ("--from", (now - timedelta(hours=1)).isoformat(), "--to", (now + timedelta(hours=1)).isoformat())
    ran = await abacus("campaigns", "backtest", str(file), *window, "--json", env=house.environment())
    assert ran.code == 0, ran.err
    tested = ran.json
    assert (tested["read"], tested["faulty"], tested["events"]) == (
        200,
        0,
        100,
    )  # garbage is the calculator's to set aside
    assert (tested["points"], tested["cost"]) == (2_500, 25.0)
    assert 7 <= tested["members"] <= 10  # whose events come first, is up to the partitions
    assert 300 <= tested["most_points_of_a_member"] <= 400
    async with house.running("campaigner"):

        async def decided() -> bool:
            status = await house.pool.fetchval("select status from campaign where name = 'market'")
            return bool(status == "exhausted")

        await until(decided)
    done = "select sum(events)::bigint, sum(points)::bigint from campaign_sum where outcome = 'done'"
    assert tuple(await house.pool.fetchrow(done)) == (25, 2_500)
    again = await abacus("campaigns", "backtest", label, *window, env={**house.environment(), "COLUMNS": "160"})
    assert "200 events read" in again.out


async def test_of_events_with_one_key_the_first_is_the_event(house: House, tmp_path: Path) -> None:
    """As it is for a campaign that runs: in the first alone the ride was not by cash, in the second not by wallet."""
    now = datetime.now(UTC)
    kinds = [("wallet", 3), ("cash", 5)]
    await house.produce(
        [
            completed(number, member_id="ann", payment_type=payment_type, occurred_at=now.isoformat())
            for number in (1, 2)
            for payment_type, _ in kinds
        ]
    )
    file = tmp_path / "draft.json"
    times = {"starts_at": "2025-01-01T00:00:00+08:00", "ends_at": (now + timedelta(days=900)).isoformat()}
    window = ("--from", (now - timedelta(hours=1)).isoformat(), "--to", (now + timedelta(hours=1)).isoformat())
    points = []
    for payment_type, each in kinds:
        when = {"operator": "eq", "lhs": "var.payment_type", "rhs": payment_type}
        steps = [{"do": [{"award": {"points": each}}]}]
        file.write_text(json.dumps({**HERE, **times, "when": when, "steps": steps}))
        ran = await abacus("campaigns", "backtest", str(file), *window, "--json", env=house.environment())
        points.append(ran.json["points"])
    assert points == [6, 0]


GROUP = {"exclusive": "meals", "limits": {"unlimited": True}}
ALWAYS: list[dict[str, Any]] = [{"do": [{"award": {"points": 10}}]}]
FOOD = {"operator": "eq", "lhs": "var.vertical", "rhs": "food"}


def sold(number: int, member: str, ago: timedelta, vertical: str = "food") -> dict[str, Any]:
    at = (datetime.now(UTC) - ago).isoformat()
    return completed(number, member_id=member, vertical=vertical, occurred_at=at)


def minutes(number: int) -> timedelta:
    return timedelta(minutes=number)


def draft(folder: Path, **fields: Any) -> str:
    now = datetime.now(UTC)
    times = {"starts_at": (now - timedelta(days=1)).isoformat(), "ends_at": (now + timedelta(days=1)).isoformat()}
    file = folder / "draft.json"
    file.write_text(json.dumps({**HERE, **times, "steps": ALWAYS, "limits": {"unlimited": True}, **fields}))
    return str(file)


async def backtest(house: House, which: str, *more: str) -> Ran:
    now = datetime.now(UTC)
    window = ("--from", (now - minutes(60)).isoformat(), "--to", (now + minutes(4)).isoformat())
    return await abacus("campaigns", "backtest", which, *window, *more, "--json", env=house.environment())


@pytest.mark.parametrize(
    ("times", "more", "events"),
    [
        ((-90, 90), (), 4),
        ((-35, 90), (), 2),
        ((-90, 1), (), 3),
        ((-35, 1), (), 1),
        ((-35, 1), ("--any-time",), 4),
        ((80, 90), ("--any-time",), 4),
    ],
)
async def test_it_runs_in_its_own_times(
    house: House, tmp_path: Path, times: tuple[int, int], more: tuple[str, ...], events: int
) -> None:
    """One event is a little ahead, as a sender's clock may be."""
    now = datetime.now(UTC)
    await house.produce([sold(number, "ann", minutes(ago)) for number, ago in enumerate((50, 40, 30, -3))])
    starts_at, ends_at = [(now + minutes(each)).isoformat() for each in times]
    file = draft(tmp_path, starts_at=starts_at, ends_at=ends_at)
    tested = (await backtest(house, file, *more)).json
    assert (tested["read"], tested["events"], tested["points"]) == (4, events, events * 10)


async def test_one_that_did_not_run_then_is_refused(house: House, tmp_path: Path) -> None:
    ran = await backtest(house, draft(tmp_path, starts_at=(datetime.now(UTC) + minutes(5)).isoformat()))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("abacus: market runs from ")
    assert ran.err.endswith(", which is not in the window; --any-time leaves that out of account\n")


async def test_what_would_be_granted_is_counted_and_named(house: House, tmp_path: Path) -> None:
    """A reward with what members pay for it, at finance's cost of a point where one is assumed."""
    await load_codes(house.pool, ["A"])
    await run_reward(house.pool)
    await run_offers(house.pool, {**LUNCH, "name": "lunch_invited", "audience": "invitation"})
    await house.produce([sold(number, "ann", minutes(50 - number)) for number in range(3)])
    file = draft(tmp_path, steps=[{"do": [{"grant": {"reward": "coffee"}}, {"grant": {"offer": "lunch_invited"}}]}])
    assert (await backtest(house, file)).json["granted"] == [
        {"offer": "lunch_invited", "times": 3, "points": None, "worth": None},
        {"reward": "coffee", "times": 3, "points": 1500, "worth": None},
    ]
    order = tmp_path / "order.json"
    order.write_text(json.dumps(sold(9, "ann", minutes(1))))
    env = {**house.environment(), "COLUMNS": "160"}
    said = (await abacus("campaigns", "simulate", file, "--event", str(order), env=env)).out
    assert "grant the reward coffee to redemptions at " in said
    assert await house.pool.fetchval("select count(*) from reward_redemption") == 0


@pytest.mark.long
async def test_the_others_of_its_group_take_their_events(house: House, tmp_path: Path) -> None:
    """As they do when both run: an event that a limit keeps from the first comes to the next."""
    then = datetime.now(UTC) - minutes(55)
    limits = {"limits": {"runs": {"member": 1}}}
    rival = {**GROUP, "name": "rival", "priority": 5, "when": FOOD, **limits}
    await run_campaign(house, approved_at=then, steps=ALWAYS, **rival)
    await run_campaign(house, approved_at=then, steps=ALWAYS, **{**GROUP, "name": "apart", "exclusive": "rides"})
    sales = [("ann", "food"), ("ann", "food"), ("bob", "food"), ("bob", "rides"), ("eve", "rides"), ("ann", "food")]
    await house.produce(
        [sold(number, member, minutes(50 - number), vertical) for number, (member, vertical) in enumerate(sales)]
    )
    tested = (await backtest(house, draft(tmp_path, **GROUP))).json
    assert tested["beside"] == ["rival@1"]
    assert (tested["read"], tested["events"], tested["points"], tested["members"]) == (6, 4, 40, 3)
    await run_campaign(house, approved_at=then, steps=ALWAYS, **GROUP)
    async with house.running("campaigner"):

        async def decided() -> bool:
            events = await house.pool.fetchval("select sum(events) from campaign_sum where campaign = 'apart'")
            return bool(events == 6)

        await until(decided)
    done = "select sum(events)::bigint, sum(points)::bigint from campaign_sum where campaign = 'market'"
    assert tuple(await house.pool.fetchrow(done)) == (4, 40)
    assert (await backtest(house, "market")).json["points"] == 40


@pytest.mark.parametrize(
    ("status", "ended", "points"), [("approved", 5, 0), ("ended", 35, 20), ("paused", 45, 30), ("exhausted", 59, 40)]
)
async def test_a_version_beside_it_takes_events_while_it_ran(
    house: House, tmp_path: Path, status: str, ended: int, points: int
) -> None:
    rival = {**GROUP, "name": "rival", "priority": 5}
    await run_campaign(house, approved_at=datetime.now(UTC) - minutes(60), steps=ALWAYS, **rival)
    changed_at = datetime.now(UTC) - minutes(ended)
    await house.pool.execute("update campaign set status = $1, changed_at = $2", status, changed_at)
    await house.produce([sold(number, "ann", minutes(ago)) for number, ago in enumerate((50, 40, 30, 20))])
    assert (await backtest(house, draft(tmp_path, **GROUP))).json["points"] == points


async def test_a_window_has_to_begin_before_it_ends(house: House) -> None:
    window = ("--from", "2026-01-02T00:00:00Z", "--to", "2026-01-01T00:00:00Z")
    ran = await abacus("campaigns", "backtest", "market", *window, env=house.environment())
    assert (ran.code, ran.err) == (2, "abacus: --to: not after --from\n")
