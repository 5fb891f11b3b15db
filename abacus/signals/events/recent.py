"""The last events that the topics hold: read when somebody asks for them, and kept in memory for a while."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, TypeAlias

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import SetAside, Unavailable
from abacus.signals.events.decide.event_reader import EventReader
from abacus.signals.events.decide.recent import SeenValues, newest, seen_values
from abacus.signals.events.decide.source import Source
from abacus.signals.events.decide.substream import followed_topics
from abacus.signals.events.decide.vocabulary import EventType
from abacus.signals.events.decide.whereabouts import Locate
from abacus.signals.events.types import Event

DAY: Final = timedelta(days=1)
_STALE_AFTER: Final = timedelta(minutes=5)
_AT_ONCE: Final = 200  # messages; others work in between
_TOPICS_AT_ONCE: Final = 8

# The last messages of a topic since a moment. Raises `Unavailable`.
Tail: TypeAlias = Callable[[str, datetime], Awaitable[Sequence[bytes]]]

log = structlog.get_logger(__name__)


class RecentEvents:
    """Of all sources that the asker knows. Whoever asks for values never waits for the broker: `keep_reading` reads."""

    def __init__(
        self,
        tail: Tail,
        clock: Clock,
        events_topic: str,
        *,
        locate: Locate | None = None,
        stale_after: timedelta = _STALE_AFTER,
    ) -> None:
        self._locate = locate
        self._tail = tail
        self._clock = clock
        self._events_topic = events_topic
        self._stale_after = stale_after
        self._lock = asyncio.Lock()
        self._asked = asyncio.Event()
        self._sources: Mapping[str, Source] = {}
        self._read_at: datetime | None = None
        self._events: Sequence[Event] = ()
        self._seen: SeenValues = {}

    def seen(self, sources: Mapping[str, Source]) -> SeenValues:
        """What was read last, and nothing before that."""
        self._sources = sources
        if self._is_stale():
            self._asked.set()
        return self._seen

    async def newest(
        self, types: Collection[EventType], country: str, sources: Mapping[str, Source], most: int
    ) -> list[Event]:
        """The last ones of the last day. Raises `Unavailable`."""
        self._sources = sources
        async with self._lock:
            if self._is_stale():
                await self._read()
        return newest(self._events, types, country, most)

    async def keep_reading(self) -> None:
        """Runs until cancelled."""
        while True:
            await self._asked.wait()
            try:
                async with self._lock:
                    if self._is_stale():
                        await self._read()
            except Unavailable as error:
                log.warning("the last events are not known", away=error)
            self._asked.clear()

    async def _read(self) -> None:
        now, sources = self._clock.now(), self._sources
        types = {name: list(source.types) for name, source in sources.items()}
        topics = sorted(followed_topics(types, sources, self._events_topic))
        events: list[Event] = []
        for topic, values in zip(topics, await self._tails(topics, now - DAY), strict=True):
            reader = EventReader(sources.values(), topic, events_topic=self._events_topic, locate=self._locate)
            for place, value in enumerate(values):
                if place % _AT_ONCE == 0:
                    await asyncio.sleep(0)
                with suppress(SetAside):
                    event = reader.read(value, now)
                    if event is not None and event.occurred_at > now - DAY:
                        events.append(event)
        self._events, self._seen, self._read_at = events, seen_values(events), now

    async def _tails(self, topics: Sequence[str], since: datetime) -> Sequence[Sequence[bytes]]:
        """Several topics beside each other: a topic that keeps silent holds up no other one."""
        limit = asyncio.Semaphore(_TOPICS_AT_ONCE)

        async def tail(topic: str) -> Sequence[bytes]:
            async with limit:
                return await self._tail(topic, since)

        return await asyncio.gather(*map(tail, topics))

    def _is_stale(self) -> bool:
        return self._read_at is None or self._clock.now() - self._read_at > self._stale_after
