"""How far consumer groups have read, asked for from outside, so that no group is disturbed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from typing import Final

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import GroupCoordinatorNotAvailableError, GroupLoadInProgressError, NotCoordinatorForGroupError
from aiokafka.structs import OffsetAndMetadata

from abacus.core.errors import Refused, Unavailable
from abacus.platform.kafka.offsets import admin_client, broker_failures, described, groupless_consumer
from abacus.platform.kafka.reader import DEPENDENCY

_COORDINATOR_WITHIN_S: Final = 15.0
_COORDINATOR_AGAIN_S: Final = 0.2
_COORDINATOR_STARTS: Final = (GroupCoordinatorNotAvailableError, GroupLoadInProgressError, NotCoordinatorForGroupError)


class Lags:
    """Counts messages that groups have not read, any number of times on the same connections."""

    def __init__(self, admin: AIOKafkaAdminClient, consumer: AIOKafkaConsumer) -> None:
        self._admin = admin
        self._consumer = consumer

    async def of(self, topic: str, group: str) -> int:
        """Messages that the broker has deleted do not count. Raises `Refused` when there is no such topic, and
        `Unavailable`.
        """
        return sum((await self.unread(topic, group)).values())

    async def unread(self, topic: str, group: str) -> Mapping[int, int]:
        """How many messages of each partition the group has not read. Raises as `of`."""
        async with broker_failures():
            partitions = await _partitions(self._admin, topic)
            read, begins, ends = await asyncio.gather(
                _committed(self._admin, partitions, group),
                self._consumer.beginning_offsets(partitions),
                self._consumer.end_offsets(partitions),
            )
        return {each.partition: max(0, ends[each] - max(read[each.partition], begins[each])) for each in partitions}


@asynccontextmanager
async def open_lags(bootstrap: str) -> AsyncIterator[Lags]:
    """Raises `Unavailable`."""
    async with admin_client(bootstrap) as admin, broker_failures(), groupless_consumer(bootstrap) as consumer:
        yield Lags(admin, consumer)


class KeptLags:
    """Counts as `Lags`, on connections that are opened once and kept until a question fails."""

    def __init__(self, opened: Callable[[], AbstractAsyncContextManager[Lags]]) -> None:
        self._opened = opened
        self._kept: tuple[Lags, AsyncExitStack] | None = None

    async def unread(self, topic: str, group: str) -> Mapping[int, int]:
        """Raises as `Lags.unread`. Questions come one after another."""
        if self._kept is None:
            stack = AsyncExitStack()
            self._kept = await stack.enter_async_context(self._opened()), stack
        try:
            return await self._kept[0].unread(topic, group)
        except Unavailable:
            await self.close()
            raise

    async def close(self) -> None:
        kept, self._kept = self._kept, None
        if kept is not None:
            await kept[1].aclose()


async def committed(bootstrap: str, topic: str, group: str) -> Mapping[int, int]:
    """The committed offset of the group in each partition of the topic; 0 where it has not begun. Raises `Refused` when
    there is no such topic, and `Unavailable`.
    """
    async with admin_client(bootstrap) as admin:
        return await _committed(admin, await _partitions(admin, topic), group)


async def _partitions(admin: AIOKafkaAdminClient, topic: str) -> list[TopicPartition]:
    """Raises `Refused` when there is no such topic."""
    partitions = await described(admin, topic)
    if not partitions:
        raise Refused(f"there is no topic {topic!r}")
    return partitions


async def _committed(admin: AIOKafkaAdminClient, partitions: list[TopicPartition], group: str) -> Mapping[int, int]:
    return await when_known(partitions, lambda: admin.list_consumer_group_offsets(group, partitions=partitions))


async def when_known(
    partitions: Sequence[TopicPartition],
    ask: Callable[[], Awaitable[Mapping[TopicPartition, OffsetAndMetadata]]],
    *,
    within_s: float = _COORDINATOR_WITHIN_S,
) -> Mapping[int, int]:
    """The offsets by partition, 0 where the group has not begun. Asks again while the group's coordinator starts: the
    broker then says so, or names no partition, because aiokafka hides the error. Raises `Unavailable` after a while.
    """
    deadline = _now() + within_s
    while True:
        with suppress(*_COORDINATOR_STARTS):
            offsets = await ask()
            if all(each in offsets for each in partitions):
                return {each.partition: max(0, offsets[each].offset) for each in partitions}
        if _now() >= deadline:
            raise Unavailable(DEPENDENCY, "the coordinator of the group does not know its offsets yet")
        await asyncio.sleep(_COORDINATOR_AGAIN_S)


def _now() -> float:
    return asyncio.get_running_loop().time()
