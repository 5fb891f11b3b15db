"""Copies the wanted events of large topics to topics of ours, at least once: an event that is copied twice has the same
id, and the same key, so that it comes to the same reader.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from abacus.core.clock import Clock
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.kafka.reader import NO_STAMP, Record, StartAgain
from abacus.platform.patience import until_available
from abacus.platform.quarantine.store import QuarantinePort
from abacus.platform.quarantine.types import Item
from abacus.signals.events.decide.substream import Asked, Selection, TooLarge, asked_lately, joined, large_topics
from abacus.signals.events.metrics import SUBSTREAM_MESSAGES
from abacus.signals.events.replay import event_item

# For some partitions of a topic: the first offset in each that is as young as the moment.
FirstSince = Callable[[Collection[int], datetime], Awaitable[Mapping[int, int]]]
# The group's committed offset of each partition of a topic.
Committed = Callable[[], Awaitable[Mapping[int, int]]]
# Returns when the topic has every message. Raises `Unavailable` when that is not known.
Publish = Callable[[str, Sequence[StreamMessage]], Awaitable[None]]


class LargeTopics:
    """What is copied of each topic, by the documents in force. `asked` gives the same object until a document
    changes, and may raise `Unavailable`.
    """

    def __init__(self, asked: Callable[[], Asked], events_topic: str) -> None:
        self._asked = asked
        self._events_topic = events_topic
        self._selections: dict[str, tuple[Asked, Selection]] = {}

    def topics(self) -> Collection[str]:
        return large_topics(self._asked())

    def selection(self, topic: str) -> Selection:
        """The same object until a document changes."""
        asked, known = self._asked(), self._selections.get(topic)
        if known is None or known[0] is not asked:
            known = self._selections[topic] = asked, Selection(asked, topic, self._events_topic)
        return known[1]


class AskedTogether:
    """What all of them ask for; the same object until one of them asks for something else."""

    def __init__(self, askers: Sequence[Callable[[], Asked]]) -> None:
        self._askers = askers
        self._known: tuple[list[Asked], Asked] | None = None

    def __call__(self) -> Asked:
        every = [asker() for asker in self._askers]
        if self._known is None or any(now is not before for now, before in zip(every, self._known[0], strict=True)):
            self._known = every, joined(every)
        return self._known[1]


class SubstreamCopier:
    """The handler of a reader of one large topic, and its `Places`: what is older than everything that is asked for is
    not read.
    """

    def __init__(
        self,
        topic: str,
        large: LargeTopics,
        quarantine: QuarantinePort,
        *,
        first_since: FirstSince,
        committed: Committed,
        publish: Publish,
        clock: Clock,
        health: WorkerHealth,
    ) -> None:
        self._topic: Final = topic
        self._large = large
        self._quarantine = quarantine
        self._first_since = first_since
        self._committed = committed
        self._publish = publish
        self._clock = clock
        self._health = health
        self._known: Collection[tuple[str, str]] | None = None
        self._missed_since: datetime | None = None

    async def begin(self, partitions: Collection[int]) -> Mapping[int, int]:
        since = self._large.selection(self._topic).since
        if not since:  # nobody asks any more: another moment, and the topic is not followed
            return {}
        lately = asked_lately(since.values(), self._clock.now())
        again = min((each for each in (lately, self._missed_since) if each is not None), default=None)
        committed, firsts = await self._committed(), await self._first_since(partitions, min(since.values()))
        places = {partition: max(committed.get(partition, 0), firsts[partition]) for partition in partitions}
        if again is not None:
            firsts = await self._first_since(partitions, again)
            places = {partition: min(place, firsts[partition]) for partition, place in places.items()}
        self._known, self._missed_since = since.keys(), None
        return places

    def left(self, _: Collection[int]) -> None:
        """Nothing is known of partitions that would have to be forgotten."""

    async def handle(self, records: Sequence[Record]) -> None:
        """Returns when the sub-streams have all that is wanted of these records. Raises `StartAgain` when a type is
        wanted that was not: messages of it may have been passed over since it is.
        """
        since = self._large.selection(self._topic).since
        if self._known is not None and (new := since.keys() - self._known):
            self._missed_since = min(since[each] for each in new)
            raise StartAgain(f"more types of {self._topic} are asked for")
        self._known = since.keys()
        await until_available(lambda: self._copy(records), self._health)

    async def _copy(self, records: Sequence[Record]) -> None:
        selection, now = self._large.selection(self._topic), self._clock.now()
        latest_ms = int(now.timestamp() * 1000)  # a topic may refuse what is stamped later
        copies: dict[str, list[StreamMessage]] = {}
        aside: list[Item] = []
        for record in records:
            stamp = None if record.stamp_ms == NO_STAMP else min(record.stamp_ms, latest_ms)
            try:
                for topic, key in selection.copies(record.value, now):
                    copies.setdefault(topic, []).append(StreamMessage(key, record.value, stamp_ms=stamp))
            except TooLarge as fault:
                aside.append(event_item(record, fault, bytes))
        await self._quarantine.add(aside)
        for topic, messages in copies.items():
            await self._publish(topic, messages)
            SUBSTREAM_MESSAGES.labels(topic, "copied").inc(len(messages))
        SUBSTREAM_MESSAGES.labels(self._topic, "read").inc(len(records))
