"""`abacus campaigns backtest`: what would have been done is what is done."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.support.commands import abacus
from tests.support.house import House, completed, until
from tests.support.running_campaigns import HERE, run_campaign

STEPS: list[dict[str, Any]] = [{"every": 2, "do": [{"award": {"points": 100}}]}]
LIMITS = {"runs": {"overall": 25, "member": 4}, "budget": {"overall": "100.00", "cost_of_point": "0.01"}}


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
    assert (tested["read"], tested["faulty"], tested["events"]) == (200, 1, 100)
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


async def test_a_window_has_to_begin_before_it_ends(house: House) -> None:
    window = ("--from", "2026-01-02T00:00:00Z", "--to", "2026-01-01T00:00:00Z")
    ran = await abacus("campaigns", "backtest", "market", *window, env=house.environment())
    assert (ran.code, ran.err) == (2, "abacus: --to: not after --from\n")
