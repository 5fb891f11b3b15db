"""Notices messages that the broker deleted before their group had read them.

The client then goes on with the oldest message that is left, and nobody is told. A gap between two offsets proves
nothing by itself: compaction, aborted messages and the markers of transactions leave gaps too. What stands before the
beginning of its partition is gone.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

import structlog
from aiokafka import TopicPartition

from abacus.platform.metrics import MESSAGES_FORGOTTEN

_FORGOTTEN: Final = "messages were deleted before they were read"
_BACK: Final = "the partition ends before the place where it was read to; it is read again from its oldest message"

log = structlog.get_logger(__name__)


class Offsets(Protocol):
    """The broker's knowledge of partitions, as the client's consumer tells it. Every method may raise `KafkaError`."""

    async def committed(self, partition: TopicPartition) -> int | None: ...

    async def beginning_offsets(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]: ...


class Jump(NamedTuple):
    """A place where other offsets come than are due. `due` is None while only the broker knows it."""

    partition: TopicPartition
    due: int | None
    came: int


def jumps(partition: TopicPartition, due: int | None, offsets: Sequence[int]) -> list[Jump]:
    """The jumps before and between messages of a partition, which came in this order."""
    if due == offsets[0] and offsets[-1] - offsets[0] == len(offsets) - 1:
        return []
    expected = [due, *(offset + 1 for offset in offsets)]
    return [Jump(partition, before, came) for before, came in zip(expected, offsets, strict=False) if before != came]


class ForgottenMessages:
    """Watches the offsets of a topic that a member of a group reads."""

    def __init__(self, group: str) -> None:
        self._group = group
        self._due: dict[TopicPartition, int] = {}
        self._jumps: list[Jump] = []

    def read(self, partition: TopicPartition, offsets: Sequence[int]) -> None:
        """Messages with these offsets came next."""
        self._jumps += jumps(partition, self._due.get(partition), offsets)
        self._due[partition] = offsets[-1] + 1

    def left(self, partitions: Iterable[TopicPartition]) -> None:
        """The partitions are another member's now; if they come back, only the broker knows how far they are read."""
        gone = set(partitions)
        self._due = {partition: due for partition, due in self._due.items() if partition not in gone}
        self._jumps = [jump for jump in self._jumps if jump.partition not in gone]

    @property
    def is_in_doubt(self) -> bool:
        """Whether `explain` has something to ask."""
        return bool(self._jumps)

    async def explain(self, offsets: Offsets) -> None:
        """Tells of the messages that are gone, of all that came since the last call. Call it before the messages are
        handled, and so before their offsets are committed.
        """
        while self._jumps:
            partition, due, came = jump = self._jumps[0]
            if due is None:
                due = await offsets.committed(partition)
            if due is not None and came > due:
                begins = (await offsets.beginning_offsets([partition]))[partition]
                self._tell(partition, due, min(came, begins))
            elif due is not None and came < due:
                log.error(_BACK, **self._place(partition), due=due, came=came)
            self._jumps = [each for each in self._jumps if each is not jump]

    async def look(self, partitions: Collection[TopicPartition], offsets: Offsets) -> None:
        """Tells of the messages that are gone from partitions that bring nothing at the moment."""
        begin = await offsets.beginning_offsets(partitions)
        for partition in partitions:
            due = self._due.get(partition)
            if due is None:
                due = await offsets.committed(partition) or begin[partition]  # a new group begins with the oldest
            self._tell(partition, due, begin[partition])
            self._due[partition] = max(due, begin[partition])

    def _tell(self, partition: TopicPartition, due: int, begins: int) -> None:
        if begins > due:
            MESSAGES_FORGOTTEN.labels(partition.topic, self._group).inc(begins - due)
            log.error(_FORGOTTEN, **self._place(partition), messages=begins - due, first=due, after=begins)

    def _place(self, partition: TopicPartition) -> dict[str, object]:
        return {"topic": partition.topic, "partition": partition.partition, "group": self._group}
