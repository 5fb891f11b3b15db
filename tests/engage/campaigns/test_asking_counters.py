"""Campaigns that ask counters, on the real stack: the event itself is in its count, or is decided when it is."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from abacus.documents.store import DocumentStore
from abacus.signals.counters.decide.definition_document import parse_definition
from abacus.signals.counters.kind import COUNTERS, held_sources
from abacus.signals.events.decide.builtin import built_in
from tests.support.commands import abacus
from tests.support.house import House, completed, until
from tests.support.running_campaigns import just_now, run_campaign

POINTS = {"award": {"points": 500}}
THIRD = {"operator": "gte", "lhs": "counter.rides_of(1h)", "rhs": 3}


async def publish_counter(house: House) -> None:
    """Rides of a member."""
    settings = house.settings
    sources = built_in(
        transactions_topic=settings.transactions_topic,
        points_topic=settings.points_topic,
        tiers_topic=settings.tiers_topic,
    )
    document = {"id": 1, "name": "rides_of", "template": "rides_of:{member_id}", "on": ["transaction.completed"]}
    draft = parse_definition(document, {each.name: each for each in sources})
    await DocumentStore(house.pool, COUNTERS).publish([draft], held_sources(sources), by="tests", now=datetime.now(UTC))


def rides(member_id: str, first: int, count: int) -> list[dict[str, object]]:
    return [completed(number, member_id=member_id, occurred_at=just_now()) for number in range(first, first + count)]


async def awarded(house: House) -> list[str]:
    rows = await house.pool.fetch("select key from transfer where starts_with(key, 'campaign:') order by key")
    return [row["key"].split(":")[5] for row in rows]


@pytest.mark.long
async def test_the_third_ride_in_the_hour_earns_points_at_once(house: House) -> None:
    """Each ride's count has all before it in its partition, and itself."""
    await publish_counter(house)
    await run_campaign(house, when=THIRD, steps=[{"do": [POINTS]}])
    async with house.running("counter", "campaigner", "awarder"):
        await house.produce([*rides("ann", 1, 3), *rides("bob", 4, 2), *rides("eve", 6, 5)])

        async def posted() -> bool:
            return {"T-3", "T-8", "T-9", "T-10"} <= set(await awarded(house))

        await until(posted)
    seen = "select member_id, key, explanation from transfer where starts_with(key, 'campaign:')"
    for row in await house.pool.fetch(seen):
        ((_, count),) = json.loads(row["explanation"])["conditions"]
        number = int(row["key"].split(":")[5].removeprefix("T-"))
        assert int(count) >= number - {"ann": 0, "eve": 5}[row["member_id"]]
    assert await house.pool.fetchval("select count(*) from transfer where member_id = 'bob'") == 0


@pytest.mark.long
async def test_while_no_counter_counts_an_event_waits_and_others_do_not(house: House) -> None:
    """It is decided as if it had been in time once it is counted."""
    await publish_counter(house)
    await run_campaign(house, name="third", when=THIRD, steps=[{"do": [POINTS]}])
    await run_campaign(house, name="always", steps=[{"do": [POINTS]}])
    settings = house.settings.model_copy(update={"campaign_counter_wait_seconds": 0.2})
    async with house.running("campaigner", "awarder", settings=settings):
        await house.produce(rides("ann", 1, 3))

        async def others() -> bool:
            return await house.transfers() == 3

        await until(others)
        async with house.running("counter"):

            async def third() -> bool:
                return await house.transfers() >= 4

            await until(third, within_s=60)
    sources = await house.pool.fetch("select distinct source from transfer order by source")
    assert [row["source"] for row in sources] == ["campaign:always", "campaign:third"]
    assert await house.reasons() == {}


async def test_simulate_counts_the_event_that_it_is_given(house: House, tmp_path: Path) -> None:
    """As it will be counted; nobody has sent it."""
    await publish_counter(house)
    await run_campaign(house, when={**THIRD, "rhs": 1}, steps=[{"do": [POINTS]}])
    event = tmp_path / "order.json"
    event.write_text(json.dumps(rides("ann", 1, 1)[0]))
    ran = await abacus("campaigns", "simulate", "market", "--event", str(event), "--json", env=house.environment())
    assert (ran.json["outcome"], ran.json["conditions"][0]["value"]) == ("done", "1")
