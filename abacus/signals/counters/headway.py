"""How far the counters of topics are: a decision by a count waits until its event is in the count."""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple, Protocol
from uuid import UUID

import structlog

from abacus.platform.kafka.topic_id import NoTopicIds
from abacus.signals.counters.generation import BY_LAST_RECORD
from abacus.signals.counters.series import SeriesBook
from abacus.signals.events.types import Position

_LOOK_EVERY_S: Final = 0.03
_NO_PATIENCE_S: Final = 30.0
_NEVER: Final = -1

log = structlog.get_logger(__name__)


class Ids(Protocol):
    """The ids of topics. Raises `Unavailable`, and `NoTopicIds`."""

    async def of(self, topic: str) -> UUID | None: ...


class _Partition(NamedTuple):
    topic: str
    number: int


class Headway:
    """Waits for counters, for `within_s` at most. A partition whose counter did not come so far is looked at without
    waiting for a while: others that are decided with it would wait as well.
    """

    def __init__(self, book: SeriesBook, ids: Ids, *, within_s: float, no_patience_s: float = _NO_PATIENCE_S) -> None:
        self._book = book
        self._ids = ids
        self._within_s = within_s
        self._no_patience_s = no_patience_s
        self._no_patience_until: dict[_Partition, float] = {}

    async def passed(self, positions: Collection[Position]) -> Collection[Position]:
        """The positions that are counted, with all before them in their partitions. Raises `Unavailable`."""
        furthest: dict[_Partition, int] = {}
        for topic, number, offset in positions:
            partition = _Partition(topic, number)
            furthest[partition] = max(offset, furthest.get(partition, _NEVER))
        identities = {topic: await self._identity(topic) for topic in {each.topic for each in furthest}}
        uptos = dict.fromkeys(furthest, _NEVER)
        now = asyncio.get_running_loop().time
        began = now()
        while True:
            uptos |= await self._uptos([each for each in furthest if uptos[each] < furthest[each]], identities)
            behind = [each for each in furthest if uptos[each] < furthest[each]]
            if all(self._no_patience_until.get(each, began) > began for each in behind):
                break
            if now() >= began + self._within_s:
                self._give_up(behind, uptos, now() + self._no_patience_s)
                break
            await asyncio.sleep(_LOOK_EVERY_S)
        return {each for each in positions if uptos[_Partition(each.topic, each.partition)] >= each.offset}

    def _give_up(self, behind: Iterable[_Partition], uptos: Mapping[_Partition, int], until: float) -> None:
        for each in behind:
            self._no_patience_until[each] = until
            log.warning("a counter is behind", topic=each.topic, partition=each.number, counted=uptos[each])

    async def _uptos(self, partitions: Iterable[_Partition], identities: Mapping[str, str]) -> Mapping[_Partition, int]:
        by_topic: dict[str, list[int]] = {}
        for topic, number in partitions:
            by_topic.setdefault(topic, []).append(number)
        found: dict[_Partition, int] = {}
        for topic, numbers in by_topic.items():
            uptos = await self._book.uptos(topic, numbers, identities[topic])
            found |= {_Partition(topic, number): upto for number, upto in uptos.items()}
        return found

    async def _identity(self, topic: str) -> str:
        """How the identity of the topic begins, so that offsets of an earlier topic of its name tell nothing."""
        try:
            return str(await self._ids.of(topic))
        except NoTopicIds:
            return BY_LAST_RECORD
