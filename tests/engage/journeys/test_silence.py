"""Waits for events time out where no event comes, and only once everything before was read."""

from collections.abc import Collection
from datetime import timedelta

from abacus.core.errors import Refused
from abacus.engage.journeys.follower import Silence
from abacus.engage.journeys.heard import HeardStore
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Pool
from tests.engage.journeys.travelling import NOW
from tests.support.fixed_clock import FixedClock

SECOND = timedelta(seconds=1)


async def test_partitions_that_were_read_are_heard_up_to_now(pool: Pool) -> None:
    clock, heard, read = FixedClock(NOW), HeardStore(pool), {0, 1}

    async def caught_up(topic: str, group: str) -> Collection[int]:
        if topic == "new":
            raise Refused("there is no topic 'new'")
        assert group == "journeyer-orders"
        return read

    topics = {"orders", "new"}
    silence = Silence(
        lambda: topics,
        caught_up,
        lambda topic: f"journeyer-{topic}",
        heard,
        clock=clock,
        health=WorkerHealth("journeyer"),
    )
    await silence.look()
    assert await heard.upto(topics) == NOW - SECOND
    clock.set(NOW + timedelta(hours=1))
    read.remove(1)
    await silence.look()
    assert await heard.upto(["orders"]) == NOW - SECOND
    read.add(1)
    await silence.look()
    assert await heard.upto(topics) == NOW + timedelta(hours=1) - SECOND
