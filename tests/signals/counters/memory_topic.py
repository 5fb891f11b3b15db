"""A topic in memory, as a counter's writer asks for it."""

from collections.abc import Collection, Mapping
from datetime import datetime

from abacus.platform.kafka.reader import Record
from abacus.platform.kafka.topic_id import NoTopicIds
from abacus.signals.counters.topic import print_of


class MemoryTopic:
    """`Topic`, with the records of its partitions."""

    def __init__(self, name: str, partitions: int, *, tells_ids: bool = True) -> None:
        self.name = name
        self.partitions: list[list[Record]] = [[] for _ in range(partitions)]
        self._tells_ids = tells_ids
        self._generation = 1
        self._is_there = True

    def append(self, partition: int, value: bytes, at: datetime) -> None:
        held = self.partitions[partition]
        held.append(Record(value, self.name, partition, len(held), int(at.timestamp() * 1000)))

    def delete(self) -> None:
        self._is_there = False
        self.partitions = [[] for _ in self.partitions]

    def create(self) -> None:
        self._is_there = True
        self._generation += 1

    async def identity(self) -> str | None:
        if not self._tells_ids:
            raise NoTopicIds
        return f"generation {self._generation}" if self._is_there else None

    async def begins_since(
        self, partitions: Collection[int], moments: Collection[datetime]
    ) -> Mapping[datetime, Mapping[int, int]]:
        return {moment: {each: self._first(each, moment) for each in partitions} for moment in moments}

    async def has(self, partition: int, offset: int, print_: str) -> bool:
        return any(each.offset == offset and print_of(each.value) == print_ for each in self.partitions[partition])

    def _first(self, partition: int, moment: datetime) -> int:
        held, at = self.partitions[partition], int(moment.timestamp() * 1000)
        return next((record.offset for record in held if record.stamp_ms >= at), len(held))
