"""Reads a part of a topic once, without a group, so that no consumer group is disturbed."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from aiokafka import AIOKafkaConsumer, TopicPartition

from abacus.core.errors import Unavailable
from abacus.platform.kafka.offsets import (
    EPOCH,
    broker_failures,
    first_since,
    groupless_consumer,
    keeps_times,
    partitions_of,
)
from abacus.platform.kafka.reader import DEPENDENCY

_SILENT_AFTER_S: Final = 30.0
_POLL_MS: Final = 500
_MAX_RECORDS: Final = 5000
_MILLISECOND: Final = timedelta(milliseconds=1)


class Stamped(NamedTuple):
    """A message of the topic, its partition and offset, and the time that its sender or broker gave it."""

    value: bytes
    partition: int
    offset: int
    stamped_at: datetime


@dataclass(slots=True)
class OffsetRange:
    """The offsets of a partition that lie in a window: from `first` up to but without `after`.

    `forgotten` says that the broker has deleted the messages before `first`, so some of the window may be missing.
    """

    partition: int
    first: int
    after: int
    forgotten: bool
    messages: int = 0


def range_from(partition: int, begins: int, ends: int, named: int | None, *, keeps_times: bool) -> OffsetRange:
    """The range to begin with in a partition that holds the offsets from `begins` up to `ends`; `named` is the first
    message of the window, as the broker names it. Deleted messages before it may have belonged to the window.
    """
    if named is None:
        named = ends if keeps_times else begins
    return OffsetRange(partition, named, named, forgotten=0 < named == begins < ends)


class TopicWindow:
    """The messages of a topic between two moments, in the order of each partition.

    A range begins with the first message that is stamped at or after `start` and ends before the first that is
    stamped at or after `end`, or where the partition ended when reading began. So windows that meet share no message
    and leave none out, even where stamps do not rise.
    """

    def __init__(
        self, bootstrap: str, topic: str, start: datetime, end: datetime, *, silent_after_s: float = _SILENT_AFTER_S
    ) -> None:
        self._bootstrap = bootstrap
        self._topic = topic
        self._start = start
        self._end = end
        self._silent_after_s = silent_after_s
        self._open: dict[TopicPartition, int] = {}  # the ends of the partitions that are not read to their end yet
        self._begun: set[TopicPartition] = set()
        self.ranges: dict[int, OffsetRange] = {}

    async def batches(self) -> AsyncIterator[Sequence[Stamped]]:
        """Each message of the window once; none of a topic that is not there. Raises `Unavailable`."""
        async with broker_failures(), groupless_consumer(self._bootstrap) as consumer:
            await self._place(consumer)
            heard_at = _now()
            while self._open:
                polled = await consumer.getmany(timeout_ms=_POLL_MS, max_records=_MAX_RECORDS)
                batch = [each for partition, records in polled.items() for each in self._within(partition, records)]
                await self._close_read(consumer)
                if polled:
                    heard_at = _now()
                elif _now() - heard_at > self._silent_after_s:
                    raise Unavailable(DEPENDENCY, f"nothing of {self._topic} came for {self._silent_after_s:.0f} s")
                if batch:
                    yield batch

    async def _place(self, consumer: AIOKafkaConsumer) -> None:
        """Moves the consumer to the beginning of each range."""
        partitions = await partitions_of(self._bootstrap, self._topic)
        if not partitions:
            return
        begins, ends = await consumer.beginning_offsets(partitions), await consumer.end_offsets(partitions)
        firsts = await first_since(consumer, partitions, self._start)
        held = [partition for partition in partitions if begins[partition] < ends[partition]]
        named = await keeps_times(consumer, held)  # otherwise its partitions are read from their beginning
        for partition in partitions:
            offsets = range_from(
                partition.partition, begins[partition], ends[partition], firsts.get(partition), keeps_times=named
            )
            self.ranges[partition.partition] = offsets
            if offsets.first < ends[partition]:
                self._open[partition] = ends[partition]
        consumer.assign(list(self._open))
        for partition in self._open:
            consumer.seek(partition, self.ranges[partition.partition].first)

    def _within(self, partition: TopicPartition, records: Sequence[Any]) -> list[Stamped]:
        """The messages among the records that belong to the window."""
        offsets, messages = self.ranges[partition.partition], list[Stamped]()
        for record in records:
            if partition not in self._open or record.offset >= self._open[partition]:
                break
            stamped_at = EPOCH + record.timestamp * _MILLISECOND
            if partition not in self._begun:
                if stamped_at < self._start:
                    offsets.first = offsets.after = record.offset + 1
                    offsets.forgotten = False
                    continue
                self._begun.add(partition)
            if stamped_at >= self._end:
                del self._open[partition]
                break
            messages.append(Stamped(record.value or b"", partition.partition, record.offset, stamped_at))
            offsets.after = record.offset + 1
        offsets.messages += len(messages)
        return messages

    async def _close_read(self, consumer: AIOKafkaConsumer) -> None:
        """Stops reading partitions at the end of the window or of the partition; the last record may be no message."""
        for partition, end in list(self._open.items()):
            if await consumer.position(partition) >= end:
                del self._open[partition]
        consumer.pause(*(each for each in consumer.assignment() if each not in self._open))


def _now() -> float:
    return asyncio.get_running_loop().time()
