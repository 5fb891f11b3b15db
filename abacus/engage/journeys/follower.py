"""Follows the events of journeys, and keeps up to when they were read: only before that, waits for events time out."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final, Protocol

from abacus.core.clock import Clock
from abacus.core.errors import Refused, SetAside
from abacus.engage.journeys.directory import Running
from abacus.engage.journeys.goals import Goals
from abacus.engage.journeys.happenings import Happenings
from abacus.engage.journeys.heard import HeardStore
from abacus.engage.journeys.metrics import JOURNEY_EVENTS
from abacus.platform.following.passing_over import PassedOver
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.offsets import EPOCH
from abacus.platform.kafka.reader import Record
from abacus.platform.patience import unless_stopped, until_available
from abacus.platform.postgres import Pool
from abacus.platform.quarantine.store import QuarantinePort
from abacus.platform.quarantine.types import Item
from abacus.signals.events.decide.event_reader import EventReader
from abacus.signals.events.decide.substream import followed_topics, reader_of
from abacus.signals.events.decide.whereabouts import Locate
from abacus.signals.events.replay import event_item
from abacus.signals.events.types import Event

_AT_ONCE: Final = 500  # events
_LOOK_EVERY_S: Final = 2.0
_NOTHING_CAME: Final = {0: 0}  # in the partition that every topic has
_CLOCKS_DIFFER: Final = timedelta(seconds=1)  # the broker's and ours


class JourneyTopics:
    """The topics of journeys, and how each is read. Raises `Unavailable` as `running` does."""

    def __init__(self, running: Callable[[], Running], events_topic: str, locate: Locate | None = None) -> None:
        self._locate = locate
        self._running = running
        self._events_topic = events_topic
        self._readers: dict[str, tuple[Running, EventReader]] = {}

    def topics(self) -> frozenset[str]:
        now = self._running()
        return followed_topics(now.types(), now.around.beside.sources, self._events_topic)

    def awaited(self) -> frozenset[str]:
        """The topics with events for which somebody may wait."""
        now = self._running()
        return followed_topics(now.awaited(), now.around.beside.sources, self._events_topic)

    def reader(self, topic: str) -> EventReader:
        """The same object until a document changes."""
        now, known = self._running(), self._readers.get(topic)
        if known is None or known[0] is not now:
            reader = reader_of(topic, now.types(), now.around.beside.sources, self._events_topic, self._locate)
            known = self._readers[topic] = now, reader
        return known[1]


class JourneyFollower:
    """The handler of a reader of one topic. Events of members whose server is away stay behind."""

    def __init__(
        self,
        topic: str,
        topics: JourneyTopics,
        happenings: Happenings,
        goals: Goals,
        heard: HeardStore,
        *,
        quarantine: QuarantinePort,
        pool: Pool,
        clock: Clock,
        health: WorkerHealth,
    ) -> None:
        self._topic = topic
        self._over = PassedOver(pool)
        self._topics = topics
        self._happenings = happenings
        self._goals = goals
        self._heard = heard
        self._quarantine = quarantine
        self._clock = clock
        self._health = health

    async def handle(self, records: Sequence[Record]) -> Sequence[Record]:
        """Returns when what follows from these events is durable, with the records that stay behind. Raises
        `StartAgain`.
        """
        await self._over.look()
        behind: list[Record] = []
        for first in range(0, len(records), _AT_ONCE):
            some = records[first : first + _AT_ONCE]
            behind += await until_available(partial(self._handle, some), self._health)
        return behind

    async def _handle(self, records: Sequence[Record]) -> Sequence[Record]:
        reader, now = self._topics.reader(self._topic), self._clock.now()
        events: list[tuple[Record, Event]] = []
        aside: list[Item] = []
        upto: dict[int, datetime] = {}
        for record in records:
            upto[record.partition] = min(now, EPOCH + timedelta(milliseconds=max(0, record.stamp_ms)))
            try:
                event = reader.read(record.value, now)
            except SetAside as fault:
                aside.append(event_item(record, fault, reader.kept))
            else:
                events += [] if event is None else [(record, event)]
        await self._quarantine.add(aside)
        await self._happenings.happen([event for _, event in events], self._over)
        await self._goals.reach([event for _, event in events], self._over)
        await self._heard.hear(self._topic, upto, but=self._over.numbers)
        JOURNEY_EVENTS.labels(self._topic, "read").inc(len(records))
        JOURNEY_EVENTS.labels(self._topic, "set_aside").inc(len(aside))
        return await self._behind([each for each in events if each[1].member_id is not None])

    async def _behind(self, events: Sequence[tuple[Record, Event]]) -> Sequence[Record]:
        if not self._over.passes:
            return ()
        done = await self._over.kept(events, member_of=lambda each: each[1].member_id or "")
        there = {record for record, _ in done}
        return [record for record, _ in events if record not in there]


class Unread(Protocol):
    """Tells how many messages of each partition of a topic a group has not read, as `Lags.unread` does."""

    async def __call__(self, topic: str, group: str, /) -> Mapping[int, int]: ...


class Silence:
    """Partitions of which everything was read are heard up to now, also where no event comes. A partition with events
    that nobody has read yet is heard up to nothing: without a row it would hold up no wait.
    """

    def __init__(
        self,
        topics: Callable[[], Collection[str]],
        unread: Unread,
        group_of: Callable[[str], str],
        heard: HeardStore,
        *,
        clock: Clock,
        health: WorkerHealth,
    ) -> None:
        self._topics = topics
        self._unread = unread
        self._group_of = group_of
        self._heard = heard
        self._clock = clock
        self._health = health
        self._looked_at: dict[str, datetime] = {}

    async def upto(self, topics: Collection[str]) -> datetime | None:
        """As `HeardStore.upto`, and not beyond the last look at the partitions of each topic. Raises `Unavailable`."""
        if not all(topic in self._looked_at for topic in topics):
            return None
        looked_at = [self._looked_at[topic] for topic in topics]
        upto = await self._heard.upto(topics)
        return None if upto is None else min(upto, *looked_at)

    async def behind(self, topics: Collection[str]) -> Mapping[int, datetime]:
        """As `HeardStore.behind`."""
        return await self._heard.behind(topics)

    async def run(self, stop: asyncio.Event) -> None:
        """Runs until `stop` is set."""
        while not stop.is_set():
            await unless_stopped(until_available(self.look, self._health), stop)
            await unless_stopped(asyncio.sleep(_LOOK_EVERY_S), stop)

    async def look(self) -> None:
        """Raises `Unavailable`."""
        for topic in sorted(self._topics()):
            asked_at = self._clock.now() - _CLOCKS_DIFFER
            try:
                unread = await self._unread(topic, self._group_of(topic))
            except Refused:  # there is no such topic yet
                unread = _NOTHING_CAME
            upto = {partition: EPOCH if messages else asked_at for partition, messages in unread.items()}
            await self._heard.hear(topic, upto)
            self._looked_at[topic] = asked_at
        self._health.ready()
