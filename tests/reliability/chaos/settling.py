"""Waiting until nothing is on its way any more."""

import asyncio
import time
from typing import Final, NamedTuple

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from abacus.core.clock import SystemClock
from abacus.core.errors import Unavailable
from abacus.ledger.relay.cursor import RelayCursor
from abacus.platform import slices
from abacus.platform.kafka.groups import committed
from abacus.platform.postgres import passing_failures
from abacus.platform.sqs.dead_letters import dead_letters
from abacus.platform.sqs.definition import AWARD, CAMPAIGN_RETRY, EXPIRY, RETRY
from tests.reliability.chaos.ground import PARTITIONS, ProvingGround

_LOOK_EVERY_S: Final = 1.0


_COUNTED: Final = """
select coalesce(sum(t.upto + 1), 0) from counter_tally t join counter_series s on s.series = t.writer / 65536
where s.topic = $1
"""

_INSIDE: Final = "select (select count(*) from seat where left_at is null) + (select count(*) from journey_deed)"
_UNDONE: Final = "select count(*) as actions from action where done_at is null and refused_at is null"


class Left(NamedTuple):
    """How many messages are on their way, counted along the way, so that none that moves on is missed."""

    unread: int
    undecided: int
    deciding_again: int
    inside_journeys: int
    undone: int
    retried: int
    queued: int
    expiring: int
    held_by_proxy: int
    unpublished: int
    uncounted: int

    def __str__(self) -> str:
        return (
            ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in self._asdict().items() if count)
            or "nothing"
        )


async def settled(ground: ProvingGround, within_s: float) -> Left:
    """Wait until nothing is on its way, so many seconds at most; the counts at the end. The ground's logs say more."""
    begun = time.monotonic()
    deadline = begun + within_s
    while True:
        try:
            async with passing_failures():
                left = await left_in(ground)
        except (Unavailable, KafkaError, OSError):  # a service that is still coming back
            left = None
        with (ground.logs / "left.log").open("a", encoding="utf-8") as log:
            log.write(f"{time.monotonic() - begun:.0f} s: {left}\n")
        if left is not None and (not any(left) or time.monotonic() > deadline):
            return left
        await asyncio.sleep(_LOOK_EVERY_S)


async def left_in(ground: ProvingGround) -> Left:
    """Raises `Unavailable`."""
    settings = ground.settings
    return Left(
        await _unread(ground, "calculator"),
        await _unread(ground, "campaigner") if ground.campaigned else 0,
        await (await ground.queue(CAMPAIGN_RETRY)).holds(),
        await ground.pool.fetchval(_INSIDE),
        sum(row["actions"] for row in await slices.rows(ground.pool, (_UNDONE,))),
        await (await ground.queue(RETRY)).holds(),
        await (await ground.queue(AWARD)).holds(),
        await (await ground.queue(EXPIRY)).holds(),
        ground.held,
        await RelayCursor(ground.pool, settings.points_topic, SystemClock()).waiting(),
        await messages(ground) - int(await ground.pool.fetchval(_COUNTED, settings.transactions_topic)),
    )


async def dead(ground: ProvingGround) -> int:
    return sum(each.messages for each in await dead_letters(ground.client, ground.settings.queue_prefix))


async def _unread(ground: ProvingGround, worker: str) -> int:
    """How many messages the group of these workers has not committed yet."""
    settings = ground.settings
    bootstrap, topic = settings.required("kafka_bootstrap"), settings.transactions_topic
    read = await committed(bootstrap, topic, ground.group_of(worker))
    return await messages(ground) - sum(read.values())


async def messages(ground: ProvingGround) -> int:
    """How many messages the transactions topic has."""
    settings = ground.settings
    consumer = AIOKafkaConsumer(bootstrap_servers=settings.required("kafka_bootstrap"), group_id=None)
    await consumer.start()
    try:
        ends = await consumer.end_offsets(
            [TopicPartition(settings.transactions_topic, partition) for partition in range(PARTITIONS)]
        )
    finally:
        await consumer.stop()
    return int(sum(ends.values()))
