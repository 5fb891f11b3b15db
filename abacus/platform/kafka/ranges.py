"""Reads given offsets of a topic once, without a group."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Final

from aiokafka import AIOKafkaConsumer, TopicPartition

from abacus.core.errors import Unavailable
from abacus.platform.kafka.offsets import begins_since, broker_failures, ends_of, groupless_consumer
from abacus.platform.kafka.reader import DEPENDENCY, Record

_SILENT_AFTER_S: Final = 30.0
_POLL_MS: Final = 500
_MOST_RECORDS: Final = 10_000


async def read_ranges(
    bootstrap: str, topic: str, ranges: Mapping[int, range], *, silent_after_s: float = _SILENT_AFTER_S
) -> AsyncGenerator[Sequence[Record], None]:
    """The records at these offsets of each partition, in the order of each partition, without records that the broker
    has deleted. Raises `Unavailable`.
    """
    if not any(ranges.values()):
        return
    loop = asyncio.get_running_loop()
    async with broker_failures(), groupless_consumer(bootstrap) as consumer:
        ends = await _placed(consumer, topic, ranges)
        heard_at = loop.time()
        while ends:
            polled = await consumer.getmany(timeout_ms=_POLL_MS, max_records=_MOST_RECORDS)
            records = [
                Record(each.value or b"", topic, place.partition, each.offset, each.timestamp)
                for place, some in polled.items()
                for each in some
                if each.offset < ends.get(place, 0)
            ]
            for place, end in list(ends.items()):
                if await consumer.position(place) >= end:
                    del ends[place]
                    consumer.pause(place)
            if polled:
                heard_at = loop.time()
            elif loop.time() - heard_at > silent_after_s:
                raise Unavailable(DEPENDENCY, f"nothing of {topic} came for {silent_after_s:.0f} s")
            if records:
                yield records


async def last_of(
    bootstrap: str, topic: str, since: datetime, most: int, *, silent_after_s: float = _SILENT_AFTER_S
) -> list[Record]:
    """The last records of each partition, `most` of each, that are stamped since a moment where the broker knows times;
    none of a topic that is not there. Raises `Unavailable`.
    """
    ends = await ends_of(bootstrap, topic)
    if not ends:
        return []
    begins = (await begins_since(bootstrap, topic, list(ends), [since]))[since]
    ranges = {number: range(max(begins[number], end - most), end) for number, end in ends.items()}
    async with aclosing(read_ranges(bootstrap, topic, ranges, silent_after_s=silent_after_s)) as batches:
        return [record async for records in batches for record in records]


async def _placed(consumer: AIOKafkaConsumer, topic: str, ranges: Mapping[int, range]) -> dict[TopicPartition, int]:
    """The partitions in which something is left to read, each with the end of its range, and the consumer at their
    beginnings.
    """
    places = {TopicPartition(topic, number): offsets for number, offsets in ranges.items() if offsets}
    begins, ends = await consumer.beginning_offsets(list(places)), await consumer.end_offsets(list(places))
    found: dict[TopicPartition, int] = {}
    for place, offsets in places.items():
        if max(begins[place], offsets.start) < min(ends[place], offsets.stop):
            found[place] = min(ends[place], offsets.stop)
    consumer.assign(list(found))
    for place in found:
        consumer.seek(place, max(begins[place], places[place].start))
    return found
