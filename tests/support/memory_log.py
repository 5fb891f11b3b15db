"""A broker in memory: topics of partitions, consumer groups with offsets, generations and rebalances."""

import asyncio
import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from aiokafka import TopicPartition
from aiokafka.errors import CommitFailedError

from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.kafka.reader import NO_STAMP

PARTITIONS: Final = 4


class Stored(NamedTuple):
    """A message with its place in the topic."""

    topic: str
    partition: int
    offset: int
    key: bytes
    value: bytes
    headers: tuple[tuple[str, bytes], ...] = ()
    timestamp: int = NO_STAMP


class Member(Protocol):
    """A consumer as its group sees it: it can be told that the group is being arranged anew."""

    def please_rejoin(self) -> None: ...


class MemoryLog:
    """Every topic has four partitions; a key decides which of them its messages go to."""

    def __init__(self, *, rebalance_s: float = 300.0) -> None:
        self._rebalance_s = rebalance_s
        self._partitions: defaultdict[TopicPartition, list[Stored]] = defaultdict(list)
        self._begins: defaultdict[TopicPartition, int] = defaultdict(int)
        self._groups: dict[tuple[str, str], Group] = {}
        self._grown = asyncio.Event()

    def append(self, topic: str, message: StreamMessage) -> Stored:
        partition = zlib.crc32(message.key) % PARTITIONS
        held = self._partitions[TopicPartition(topic, partition)]
        stamp = NO_STAMP if message.stamp_ms is None else message.stamp_ms
        held.append(Stored(topic, partition, len(held), message.key, message.value, message.headers, stamp))
        self._grown.set()
        self._grown = asyncio.Event()
        return held[-1]

    def read(self, partition: TopicPartition, offset: int, most: int | None = None) -> Sequence[Stored]:
        held = self._partitions[partition]
        return held[offset:] if most is None else held[offset : offset + most]

    def delete_before(self, partition: TopicPartition, offset: int) -> None:
        """Forgets its oldest messages, as a broker does when they are too old or too many."""
        self._begins[partition] = offset

    def begin(self, partition: TopicPartition) -> int:
        return self._begins[partition]

    def end(self, partition: TopicPartition) -> int:
        return len(self._partitions[partition])

    def messages(self, topic: str) -> list[Stored]:
        return [stored for partition in partitions_of(topic) for stored in self._partitions[partition]]

    def group(self, name: str, topic: str) -> "Group":
        return self._groups.setdefault((name, topic), Group(topic, self._rebalance_s))

    def behind(self, group: str, topic: str) -> int:
        """How many messages the group has not committed yet."""
        committed = self.group(group, topic).committed
        return sum(self.end(partition) - committed.get(partition, 0) for partition in partitions_of(topic))

    async def grown(self, within_s: float) -> None:
        """Returns when something is appended, or after so long."""
        grown = self._grown
        try:
            async with asyncio.timeout(within_s):
                await grown.wait()
        except TimeoutError:
            return


class Joined(NamedTuple):
    """A member's part in a generation of its group."""

    generation: int
    partitions: set[TopicPartition]


class Group:
    """A consumer group of one topic, as its coordinator at the broker keeps it.

    A rebalance begins when a member joins, leaves or falls silent. It ends when every member has joined again; one
    that has not done so in time is left out, and its later commits are refused.
    """

    def __init__(self, topic: str, rebalance_s: float) -> None:
        self.committed: dict[TopicPartition, int] = {}
        self.generation = 0
        self._partitions = partitions_of(topic)
        self._rebalance_s = rebalance_s
        self._members: dict[Member, int] = {}  # the generation each has joined
        self._joining: dict[Member, asyncio.Future[Joined | None]] = {}
        self._deadline: asyncio.TimerHandle | None = None

    @property
    def members(self) -> list[Member]:
        return list(self._members)

    async def join(self, member: Member) -> Joined | None:
        """The member's part in the next generation; nothing when it was thrown out while it waited."""
        loop = asyncio.get_running_loop()
        self._members.setdefault(member, -1)
        joined: asyncio.Future[Joined | None] = loop.create_future()
        self._joining[member] = joined
        if self._deadline is None:
            self._deadline = loop.call_later(self._rebalance_s, self._leave_out_the_late)
            self._call_the_others()
        self._complete()
        return await joined

    def leave(self, member: Member) -> None:
        """Take out a member that said goodbye, or whose session has ended."""
        self._members.pop(member, None)
        waiting = self._joining.pop(member, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)
        self._call_the_others()
        self._complete()

    def commit(self, member: Member, offsets: Mapping[TopicPartition, int]) -> None:
        if self._members.get(member) != self.generation:
            raise CommitFailedError
        self.committed.update(offsets)

    def _late(self) -> list[Member]:
        return [member for member in self._members if member not in self._joining]

    def _call_the_others(self) -> None:
        for member in self._late():
            member.please_rejoin()

    def _leave_out_the_late(self) -> None:
        for member in self._late():
            del self._members[member]
        self._complete()

    def _complete(self) -> None:
        if not self._joining or self._late():
            return
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        self.generation += 1
        members = list(self._joining)
        shares: dict[Member, set[TopicPartition]] = {member: set() for member in members}
        for index, partition in enumerate(self._partitions):
            shares[members[(index + self.generation) % len(members)]].add(partition)
        for member, joined in self._joining.items():
            self._members[member] = self.generation
            if not joined.done():
                joined.set_result(Joined(self.generation, shares[member]))
        self._joining = {}


class MemoryPublisher:
    """The relay's `Publisher` into a log."""

    def __init__(self, log: MemoryLog) -> None:
        self._log = log

    async def connect(self) -> None:
        """There is always someone to publish to."""

    async def publish(self, topic: str, messages: Sequence[StreamMessage]) -> None:
        for message in messages:
            self._log.append(topic, message)


def partitions_of(topic: str) -> list[TopicPartition]:
    return [TopicPartition(topic, partition) for partition in range(PARTITIONS)]
