"""Campaigners are killed amid their work: nothing is lost, nothing is done twice, and the limit is met exactly."""

from datetime import UTC, datetime
from functools import partial

import pytest

from abacus.engage.offers.invitations import InvitationStore
from abacus.oversight.reconcile.grants import compared_grants
from abacus.oversight.reconcile.rewards import reward_books
from abacus.platform.postgres import snapshot
from tests.support.house import House, completed, until
from tests.support.offers import LUNCH, run_offers
from tests.support.rewards import load_codes, run_reward
from tests.support.running_campaigns import DAY, just_now, run_campaign

EVENTS = 3_000
LIMIT = 700
STOCK = 60  # fewer than would be granted
INVITED = {**LUNCH, "name": "lunch_invited", "audience": "invitation"}


@pytest.mark.long
async def test_killed_again_and_again(house: House) -> None:
    """Each second order earns points up to a limit, each tenth of them later, and every order comes twice. At its
    fourth order each member is granted an offer and a reward, of which there are not enough.
    """
    await run_offers(house.pool, INVITED)
    await load_codes(house.pool, (f"C{number}" for number in range(2 * STOCK)))
    await run_reward(house.pool, limits={"uses": {"overall": STOCK}})
    await run_campaign(
        house,
        name="gifts",
        steps=[{"at": 4, "do": [{"grant": {"offer": "lunch_invited"}}, {"grant": {"reward": "coffee"}}]}],
    )
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
    books = await reward_books(house.pool)
    assert (books.redemptions, books.waiting, books.faults) == (100, 0, [])
    given = await house.pool.fetch("select member_id, points, source from reward_redemption where stage = 'given'")
    assert len({row["member_id"] for row in given}) == len(given) == STOCK
    assert {(row["points"], row["source"]) for row in given} == {(0, "campaign:gifts")}
    granted = await house.pool.fetch(
        "select receiver, reason, count(*) from action where kind = 'grant' group by 1, 2 order by 1, 2 nulls first"
    )
    assert [tuple(row) for row in granted] == [
        ("invitations", None, 100),
        ("redemptions", None, STOCK),
        ("redemptions", f"coffee: {STOCK} of {STOCK} pieces are gone", 100 - STOCK),
    ]
    assert await InvitationStore(house.pool).count(1) == 100
    async with snapshot(house.pool) as connection:
        compared = await compared_grants(
            connection, "campaign", datetime.fromisoformat(now) - DAY, datetime.now(UTC) + DAY
        )
    assert [(each.counted, each.other) for each in compared] == [(100, 100), (STOCK, STOCK)]
    rows = await house.pool.fetch(
        "select split_part(key, ':', 2) as campaign, count(*), sum(points)::bigint from transfer group by 1 order by 1"
    )
    assert [tuple(row) for row in rows] == [("later", 100, 700), ("market", LIMIT, 5 * LIMIT)]
    done = "select sum(events)::bigint from campaign_sum where campaign = 'market' and outcome = 'done'"
    assert await house.pool.fetchval(done) == LIMIT
    assert await house.pool.fetchval("select count(*) from notice where part::text like '%campaign%'") == LIMIT
