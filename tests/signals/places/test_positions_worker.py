"""The worker `positions` on the real stack: a campaign and a journey answer to a member who comes into a region."""

from datetime import timedelta
from typing import Any, Final

import orjson
import pytest

from abacus.core.clock import SystemClock
from abacus.platform.kafka.publisher import StreamMessage, StreamPublisher
from abacus.platform.postgres import Pool, nothing_else
from abacus.signals.places.decide.region import Region
from abacus.signals.places.region_store import Loading, RegionStore
from tests.support.editions import edition_of
from tests.support.house import House, until
from tests.support.running_campaigns import run_campaign
from tests.support.running_journeys import run_journey

NOW: Final = SystemClock().now()
LONG_AGO: Final = NOW - timedelta(hours=2)
MALL: Final = Region(
    "mall", "The mall", "mall", 1, "SG", ((((103.8, 1.3), (103.9, 1.3), (103.9, 1.4), (103.8, 1.4), (103.8, 1.3)),),)
)


async def load(pool: Pool) -> None:
    edition = edition_of("SG", [MALL])
    await RegionStore(pool).load(edition, Loading("person:ann", NOW, waits=False), nothing_else)


async def send(house: House, *positions: tuple[str, float, float]) -> None:
    """Each of a member, so many minutes ago, at a longitude."""
    publisher = StreamPublisher(house.settings.required("kafka_bootstrap"))
    messages: list[dict[str, Any]] = [
        {"member_id": member, "lat": 1.35, "lon": lon, "at": NOW - timedelta(minutes=minutes)}
        for member, minutes, lon in positions
    ]
    await publisher.publish(
        house.settings.positions_topic,
        [StreamMessage(each["member_id"].encode(), orjson.dumps(each)) for each in messages],
    )
    await publisher.close()


async def given(house: House) -> dict[str, int]:
    rows = await house.pool.fetch("select split_part(key, ':', 1), member_id, points from transfer order by 1, 2")
    return {f"{what} {member}": points for what, member, points in rows}


@pytest.mark.long
async def test_a_member_who_comes_into_a_region_is_given_something_once(house: House) -> None:
    await load(house.pool)
    entered: dict[str, Any] = {"operator": "eq", "lhs": "place.mall", "rhs": True}
    await run_campaign(
        house,
        approved_at=LONG_AGO,
        on=["places/place.entered"],
        when=entered,
        steps=[{"at": 1, "do": [{"award": {"points": 10}}]}],
    )
    await run_journey(
        house,
        approved_at=LONG_AGO,
        entry={"on": ["places/place.left"], "when": {"operator": "eq", "lhs": "var.kind", "rhs": "mall"}},
        begin="gift",
        nodes={"gift": {"do": {"award": {"points": 5}}, "next": "done"}, "done": {"exit": "through"}},
    )
    sent = [("ann", 50, 103.85), ("bob", 50, 103.7), ("ann", 49, 103.85), ("ann", 10, 103.7)]
    await send(house, *sent, *sent)
    async with house.running("positions", "campaigner", "journeyer", "awarder"):

        async def are_given() -> bool:
            return len(await given(house)) == 2

        await until(are_given)
    assert await given(house) == {"campaign ann": 10, "journey ann": 5}
    assert await house.reasons() == {}
