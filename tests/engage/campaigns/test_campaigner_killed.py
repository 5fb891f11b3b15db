"""Campaigners are killed amid their work: nothing is lost, nothing is done twice, and the limit is met exactly."""

from functools import partial

import pytest

from tests.support.house import House, completed, until
from tests.support.running_campaigns import just_now, run_campaign

EVENTS = 3_000
LIMIT = 700


@pytest.mark.long
async def test_killed_again_and_again(house: House) -> None:
    """Each second order earns points up to a limit, each tenth of them later, and every order comes twice."""
    await run_campaign(
        house,
        over="week",
        steps=[{"every": 2, "do": [{"award": {"points": 5}}, {"tell": {"en": "Two\nThat was order {{count}}."}}]}],
        limits={"runs": {"overall": LIMIT, "member": 10}},
    )
    await run_campaign(
        house,
        name="later",
        steps=[{"at": 10, "do": [{"award": {"points": 7}, "after": "1s"}]}],
    )
    now = just_now()
    orders = [completed(number, member_id=f"m{number % 100}", occurred_at=now) for number in range(EVENTS)]
    for first in range(0, EVENTS, 500):
        some = orders[first : first + 500]
        await house.produce([*some, *some])

    async def decided(least: int) -> bool:
        claims = "select count(*) from campaign_claim where campaign = 'later'"
        return int(await house.pool.fetchval(claims)) >= least

    for least in (1, EVENTS // 2):
        async with house.process("campaigner") as process:
            await until(partial(decided, least))
            process.kill()
    async with house.running("awarder", "campaigner"):

        async def through() -> bool:
            waiting = await house.pool.fetchval(
                "select count(*) from action where done_at is null and refused_at is null"
            )
            status = await house.pool.fetchval("select status from campaign where name = 'market'")
            return waiting == 0 and status == "exhausted" and await house.transfers() >= LIMIT + 100

        await until(through)
    rows = await house.pool.fetch(
        "select split_part(key, ':', 2) as campaign, count(*), sum(points)::bigint from transfer group by 1 order by 1"
    )
    assert [tuple(row) for row in rows] == [("later", 100, 700), ("market", LIMIT, 5 * LIMIT)]
    done = "select sum(events)::bigint from campaign_sum where campaign = 'market' and outcome = 'done'"
    assert await house.pool.fetchval(done) == LIMIT
    assert await house.pool.fetchval("select count(*) from notice where part::text like '%campaign%'") == LIMIT
