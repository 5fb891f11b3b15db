"""Positions of members whose slice goes away between reading and writing: what was told is told once."""

from collections.abc import Sequence
from datetime import timedelta

from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.postgres import Connection, Pool
from tests.ledger.slices.eight import FIRST, SECOND, bring_back, take_away
from tests.signals.places.test_position_follower import NOW, Topic, follower, message, records, stay, visits

AWAY = 0  # the slice of the first member


async def test_what_a_slice_could_not_write_is_known_and_written_later(pool: Pool, owner: Connection) -> None:
    topic = Topic()

    async def publish(messages: Sequence[StreamMessage]) -> None:
        await topic.publish(messages)
        if len(topic.events) == 2:
            await take_away(owner, AWAY, "member_region")

    following = follower(pool, publish)
    entered = [("place.entered", member, "singapore") for member in (FIRST, SECOND)]
    await following.handle(records(*(message(member_id=member) for member in (FIRST, SECOND))))
    assert topic.told() == entered
    assert await visits(pool, SECOND) == [stay(SECOND, "singapore", NOW, NOW, inside=True)]

    await following.handle(records(*(message(5, member_id=member) for member in (FIRST, SECOND))))
    await bring_back(owner, AWAY, "member_region")
    await following.handle(records(message(10, member_id=FIRST)))
    assert topic.told() == entered
    seen_at = NOW + timedelta(minutes=10)
    assert await visits(pool, FIRST) == [stay(FIRST, "singapore", NOW, seen_at, inside=True)]
