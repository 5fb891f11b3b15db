"""Waits for events time out where no event comes, and only once everything before was read."""

from collections.abc import Mapping
from datetime import timedelta

from abacus.core.errors import Refused
from abacus.engage.journeys.follower import Silence
from abacus.engage.journeys.heard import HeardStore
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Pool
from tests.engage.journeys.travelling import NOW
from tests.support.fixed_clock import FixedClock

SECOND = timedelta(seconds=1)
TOPICS = {"orders", "new"}


def silence_of(pool: Pool, clock: FixedClock, messages: Mapping[int, int]) -> Silence:
    """With so many messages unread in each partition."""

    async def unread(topic: str, group: str) -> Mapping[int, int]:
        if topic == "new":
            raise Refused("there is no topic 'new'")
        assert group == "journeyer-orders"
        return messages

    health = WorkerHealth("journeyer")
    return Silence(
        lambda: TOPICS, unread, lambda topic: f"journeyer-{topic}", HeardStore(pool), clock=clock, health=health
    )


async def test_partitions_that_were_read_are_heard_up_to_now(pool: Pool) -> None:
    clock, messages = FixedClock(NOW), {0: 0, 1: 0}
    silence = silence_of(pool, clock, messages)
    await silence.look()
    assert await silence.upto(TOPICS) == NOW - SECOND
    clock.set(NOW + timedelta(hours=1))
    messages[1] = 3
    await silence.look()
    assert await silence.upto(["orders"]) == NOW - SECOND
    messages[1] = 0
    await silence.look()
    assert await silence.upto(TOPICS) == NOW + timedelta(hours=1) - SECOND


async def test_a_partition_that_nobody_has_read_yet_holds_up_all_waits(pool: Pool) -> None:
    clock, messages, heard = FixedClock(NOW), {0: 0, 1: 3}, HeardStore(pool)
    silence = silence_of(pool, clock, messages)
    await heard.hear("orders", {0: NOW})
    await heard.hear("new", {0: NOW})
    assert await silence.upto(TOPICS) is None, "how many partitions there are is not known"
    await silence.look()
    upto = await silence.upto(TOPICS)
    assert upto is not None
    assert upto < NOW - timedelta(days=365)
    await heard.hear("orders", {1: NOW + timedelta(hours=1)})
    assert await silence.upto(TOPICS) == NOW - SECOND, "not beyond the last look at the partitions"


async def test_who_is_behind_stays_so_until_its_own_partition_was_read(pool: Pool) -> None:
    """A look at partitions with unread messages, and what was read of another one, say nothing of it."""
    heard = HeardStore(pool)
    await heard.hear("orders", {0: NOW, 1: NOW})
    await heard.hear("orders", {0: NOW}, but=[3])
    await heard.hear("orders", {1: NOW + SECOND})
    await silence_of(pool, FixedClock(NOW), {0: 2, 1: 0}).look()
    assert await heard.behind(["orders"]) == {3: NOW}
    await heard.hear("orders", {0: NOW + SECOND})
    assert await heard.behind(["orders"]) == {}
