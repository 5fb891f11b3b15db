"""The broker's knowledge of a topic's partitions, asked for without a group, so that no consumer group is disturbed."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from abacus.core.errors import Unavailable
from abacus.platform.kafka.reader import DEPENDENCY

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_AGAIN_MS: Final = 10  # the first question about a topic is asked again once its leaders are known
_AT_ANY_TIME_MS: Final = 0
_POLLS: Final = 20
_POLL_MS: Final = 500


@asynccontextmanager
async def broker_failures() -> AsyncIterator[None]:
    """Turns "the broker is away" into `Unavailable`."""
    try:
        yield
    except (KafkaError, OSError) as error:
        raise Unavailable(DEPENDENCY, str(error) or type(error).__name__) from error


@asynccontextmanager
async def groupless_consumer(bootstrap: str) -> AsyncIterator[AIOKafkaConsumer]:
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap,
        group_id=None,
        isolation_level="read_committed",
        enable_auto_commit=False,
        auto_offset_reset="none",  # messages that are deleted while we read must not be skipped silently
        max_partition_fetch_bytes=1024 * 1024,
        fetch_max_bytes=8 * 1024 * 1024,
        fetch_max_wait_ms=100,
        retry_backoff_ms=_AGAIN_MS,
    )
    try:
        await consumer.start()
        yield consumer
    finally:
        await consumer.stop()


@asynccontextmanager
async def admin_client(bootstrap: str) -> AsyncIterator[AIOKafkaAdminClient]:
    """Raises `Unavailable` for what the broker does not do."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        async with broker_failures():
            await admin.start()
            yield admin
    finally:
        await admin.close()


async def topics_of(bootstrap: str) -> frozenset[str]:
    """All that the broker has, its own too. Raises `Unavailable`."""
    async with admin_client(bootstrap) as admin:
        return frozenset(await admin.list_topics())


async def partitions_of(bootstrap: str, topic: str) -> list[TopicPartition]:
    """None of a topic that is not there. Raises `Unavailable`."""
    async with admin_client(bootstrap) as admin:
        return await described(admin, topic)


async def described(admin: AIOKafkaAdminClient, topic: str) -> list[TopicPartition]:
    """Its partitions, as the client of an administrator is told them."""
    if topic not in await admin.list_topics():  # listed first: a description would create it on some brokers
        return []
    [about] = await admin.describe_topics([topic])
    return sorted(TopicPartition(topic, each["partition"]) for each in about["partitions"])


async def ends_of(bootstrap: str, topic: str) -> Mapping[int, int]:
    """The offset behind the last message of each partition; nothing of a topic that is not there. Raises
    `Unavailable`.
    """
    partitions = await partitions_of(bootstrap, topic)
    if not partitions:
        return {}
    async with broker_failures(), groupless_consumer(bootstrap) as consumer:
        ends = await consumer.end_offsets(partitions)
    return {partition.partition: end for partition, end in ends.items()}


async def first_since(
    consumer: AIOKafkaConsumer, partitions: Collection[TopicPartition], moment: datetime
) -> dict[TopicPartition, int | None]:
    """The offset of the first message of each that is stamped at or after the moment, where the broker knows one."""
    at = max(_AT_ANY_TIME_MS, -((EPOCH - moment) // _MILLISECOND))
    first = await consumer.offsets_for_times(dict.fromkeys(partitions, at))
    return {partition: None if each is None else each.offset for partition, each in first.items()}


async def keeps_times(consumer: AIOKafkaConsumer, held: Collection[TopicPartition]) -> bool:
    """Whether the broker can be asked for times, by partitions that hold messages. A broker without an index of times,
    as the embedded one, names no message for any time.
    """
    ever = await first_since(consumer, held, EPOCH) if held else {}
    return not held or any(first is not None for first in ever.values())


async def begins_since(
    bootstrap: str, topic: str, partitions: Collection[int], moments: Collection[datetime]
) -> Mapping[datetime, Mapping[int, int]]:
    """For each moment the first offset in each partition that is stamped at or after it, or the end of the partition;
    its beginning where the broker knows no times. Raises `Unavailable`.
    """
    asked = [TopicPartition(topic, number) for number in partitions]
    async with broker_failures(), groupless_consumer(bootstrap) as consumer:
        # The ends first: what comes behind them while we ask is younger than every moment.
        begins, ends = await consumer.beginning_offsets(asked), await consumer.end_offsets(asked)
        held = [partition for partition in asked if begins[partition] < ends[partition]]
        otherwise = ends if await keeps_times(consumer, held) else begins

        async def since(moment: datetime) -> Mapping[int, int]:
            named = await first_since(consumer, asked, moment)
            found = {each: named.get(each) for each in asked}
            return {each.partition: otherwise[each] if first is None else first for each, first in found.items()}

        return await _at_each(sorted(set(moments)), since)


class RecordThere(NamedTuple):
    """The record at an offset. Without a value it is not there: because it was deleted, or because the partition ends
    before the offset.
    """

    value: bytes | None
    may_be_deleted: bool


async def record_at(bootstrap: str, topic: str, partition: int, offset: int) -> RecordThere:
    """Reads one record. Raises `Unavailable`."""
    place = TopicPartition(topic, partition)
    async with broker_failures(), groupless_consumer(bootstrap) as consumer:
        begins, ends = await consumer.beginning_offsets([place]), await consumer.end_offsets([place])
        if not begins[place] <= offset < ends[place]:
            return RecordThere(None, may_be_deleted=offset < begins[place])
        consumer.assign([place])
        consumer.seek(place, offset)
        for _ in range(_POLLS):
            for record in (await consumer.getmany(timeout_ms=_POLL_MS, max_records=1)).get(place, ()):
                if record.offset == offset:
                    return RecordThere(record.value or b"", may_be_deleted=False)
                return RecordThere(None, may_be_deleted=True)  # it was compacted away
    raise Unavailable(DEPENDENCY, f"nothing of {topic} came")


async def _at_each(
    moments: Sequence[datetime], ask: Callable[[datetime], Awaitable[Mapping[int, int]]]
) -> Mapping[datetime, Mapping[int, int]]:
    """The answers for these moments, which are sorted. Where the answers for two moments are the same, so are the
    answers in between.
    """
    if not moments:
        return {}
    answers = {moment: await ask(moment) for moment in {moments[0], moments[-1]}}
    between = [(0, len(moments) - 1)]
    while between:
        first, last = between.pop()
        if answers[moments[first]] == answers[moments[last]]:
            answers |= dict.fromkeys(moments[first:last], answers[moments[first]])
        elif last - first > 1:
            middle = (first + last) // 2
            answers[moments[middle]] = await ask(moments[middle])
            between += [(first, middle), (middle, last)]
    return answers
