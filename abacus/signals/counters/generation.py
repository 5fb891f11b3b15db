"""The series that a topic's partitions belong to: a topic that was deleted and created anew has another one."""

from collections.abc import Collection, Mapping
from typing import Final

import structlog

from abacus.core.errors import Unavailable
from abacus.platform.kafka.reader import DEPENDENCY, StartAgain
from abacus.platform.kafka.topic_id import NoTopicIds
from abacus.signals.counters.series import SeriesBook
from abacus.signals.counters.topic import Topic

BY_LAST_RECORD: Final = "by-last-record-"  # how an identity begins where the broker tells no ids

log = structlog.get_logger(__name__)


class Generation:
    """A topic as it was when its partitions were begun.

    Where the broker tells no ids of topics, a partition is known by the last record that was read of it, and only when
    it is begun.
    """

    def __init__(self, topic: Topic, book: SeriesBook) -> None:
        self._topic = topic
        self._book = book
        self._identity: str | None = None

    async def series(self, partitions: Collection[int], *, others: bool) -> Mapping[int, int]:
        """The series that each partition belongs to now. Raises `Unavailable`; and `StartAgain` where others are open
        already, of an earlier topic of this name.
        """
        name = self._topic.name
        try:
            identity = await self._topic.identity()
        except NoTopicIds:
            log.warning("the broker tells no topic ids: a topic that is created anew is noticed at starts", topic=name)
            return {each: await self._book.live(name, await self._by_last_record(each)) for each in partitions}
        if identity is None:
            raise Unavailable(DEPENDENCY, f"there is no topic {name}")
        if others:
            self._check(identity)
        self._identity = identity
        return dict.fromkeys(partitions, await self._book.live(name, identity))

    async def confirm(self) -> None:
        """Returns when no record that was read before the call is of a later topic of the same name. Raises
        `StartAgain` if one may be, and `Unavailable`.
        """
        if self._identity is None:
            return
        identity = await self._topic.identity()
        if identity is not None:
            self._check(identity)

    def _check(self, identity: str) -> None:
        if identity != self._identity:
            raise StartAgain(f"the topic {self._topic.name} was deleted and created anew")

    async def _by_last_record(self, partition: int) -> str:
        latest = await self._book.latest(self._topic.name, partition, BY_LAST_RECORD)
        if latest is None:
            return f"{BY_LAST_RECORD}1"
        identity, tally = latest
        if tally.last_offset is None or tally.last_print is None:
            return identity
        if await self._topic.has(partition, tally.last_offset, tally.last_print):
            return identity
        return f"{BY_LAST_RECORD}{int(identity.removeprefix(BY_LAST_RECORD)) + 1}"
