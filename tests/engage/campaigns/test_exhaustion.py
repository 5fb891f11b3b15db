"""A campaign at its limit is marked, also when the process that took it there died before it could say so."""

from abacus.core.clock import SystemClock
from abacus.engage.campaigns.campaign_store import CampaignStore
from abacus.engage.campaigns.desk import CampaignExhaustion
from abacus.engage.campaigns.directory import CampaignDirectory
from abacus.engage.campaigns.effects import Effects
from abacus.engage.campaigns.sums import done_before
from abacus.engage.limits.exhaustion_watch import ExhaustionWatch
from abacus.engage.limits.pot_store import PotStore
from abacus.platform.health import WorkerHealth
from abacus.signals.events.decide.builtin import built_in
from tests.engage.campaigns.offers import matched, order
from tests.support.house import House
from tests.support.running_campaigns import run_campaign

SOURCES = tuple(built_in(transactions_topic="t", points_topic="p", tiers_topic="x"))
POINTS = {"award": {"points": 500}}


async def test_what_nobody_marked_is_marked_later(house: House) -> None:
    clock, store = SystemClock(), CampaignStore(house.pool)
    for name, runs in (("few", 2), ("many", 3), ("all", None)):
        limits = {"unlimited": True} if runs is None else {"runs": {"overall": runs}}
        await run_campaign(house, name=name, steps=[{"do": [POINTS]}], limits=limits)
    events = [order(number)._replace(occurred_at=clock.now()) for number in range(2)]
    for campaign in await store.in_force(clock.now()):  # and the process dies before it has told anybody
        await Effects(house.pool, clock, slot=1).decide([matched(campaign, event) for event in events])
    directory = CampaignDirectory(house.pool, SOURCES, clock)
    await directory.refresh()
    pots, exhaustion = PotStore(house.pool, 0, done_before), CampaignExhaustion(store, clock)
    watch = ExhaustionWatch(house.pool, pots, directory.bounded, exhaustion.mark, WorkerHealth("campaigner"))
    for _ in range(2):
        await watch.look()
    rows = await house.pool.fetch("select name, status from campaign order by name")
    assert [tuple(row) for row in rows] == [("all", "approved"), ("few", "exhausted"), ("many", "approved")]
    entries = await house.pool.fetchval("select count(*) from audit_log where details::text like '%exhausted%'")
    assert entries == 1
