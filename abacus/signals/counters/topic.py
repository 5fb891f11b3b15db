"""A topic as a counter's writer asks the broker for it."""

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Final, Protocol

from abacus.platform.kafka.offsets import begins_since, partitions_of, record_at
from abacus.platform.kafka.ranges import read_ranges
from abacus.platform.kafka.reader import Record
from abacus.platform.kafka.topic_id import TopicIds

_PRINT_BYTES: Final = 8


class Topic(Protocol):
    """Every method raises `Unavailable` while the broker is away."""

    name: str

    async def identity(self) -> str | None:
        """The identity of the topic, another one after it was deleted and created anew; None while it is not there.
        Records that were read before the call are of this topic, or of an older one. Raises `NoTopicIds`.
        """
        ...

    async def begins_since(
        self, partitions: Collection[int], moments: Collection[datetime]
    ) -> Mapping[datetime, Mapping[int, int]]:
        """For each moment the first offset of each partition that is stamped at or after it, or its end."""
        ...

    async def has(self, partition: int, offset: int, print_: str) -> bool:
        """Whether the record at this offset has this digest, or was deleted meanwhile and might have had it."""
        ...


class KafkaTopic:
    """`Topic` at Kafka."""

    def __init__(self, bootstrap: str, name: str, ids: TopicIds) -> None:
        self.name = name
        self._bootstrap = bootstrap
        self._ids = ids

    async def identity(self) -> str | None:
        topic_id = await self._ids.of(self.name)
        return None if topic_id is None else str(topic_id)

    async def begins_since(
        self, partitions: Collection[int], moments: Collection[datetime]
    ) -> Mapping[datetime, Mapping[int, int]]:
        return await begins_since(self._bootstrap, self.name, partitions, moments)

    async def has(self, partition: int, offset: int, print_: str) -> bool:
        there = await record_at(self._bootstrap, self.name, partition, offset)
        if there.value is None:
            return there.may_be_deleted
        return print_of(there.value) == print_

    async def partitions(self) -> Sequence[int]:
        """The numbers of its partitions."""
        return [each.partition for each in await partitions_of(self._bootstrap, self.name)]

    def records(self, ranges: Mapping[int, range]) -> AsyncGenerator[Sequence[Record], None]:
        """The records at these offsets of each partition; deleted records are left out."""
        return read_ranges(self._bootstrap, self.name, ranges)


def print_of(value: bytes) -> str:
    """A digest of a record, to recognise it by."""
    return blake2b(value, digest_size=_PRINT_BYTES).hexdigest()
