"""Events that senders post: checked, and published together with others of the same few milliseconds."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, Final

from abacus.core.errors import Unavailable
from abacus.platform.fresh_copy import FreshCopy
from abacus.platform.gatherer import Gatherer, PendingRequest
from abacus.platform.kafka.publisher import DEPENDENCY, StreamMessage
from abacus.signals.events.decide.form import EventFault
from abacus.signals.events.decide.message import EventMessage, encode_event, partition_key
from abacus.signals.events.decide.posted import NotASender, PostedReader
from abacus.signals.events.decide.whereabouts import Locate
from abacus.signals.events.kind import Sources
from abacus.signals.events.metrics import EVENTS_POSTED
from abacus.signals.events.types import Event

_GATHER_S: Final = 0.002  # a caller waits so long for others, at most, while the broker is free
_ANSWER_WITHIN_S: Final = 8.0
_MOST_WAITING_BYTES: Final = 32 * 1024 * 1024

# Returns when the broker has every message. Raises `Unavailable` when that is not known.
Publish = Callable[[Sequence[StreamMessage]], Awaitable[None]]
_Request = PendingRequest[Sequence[StreamMessage], None]


class EventDesk:
    """Takes the events of all senders of a process. `close` waits for the events in progress."""

    def __init__(
        self,
        sources: FreshCopy[Any, Sources],
        publish: Publish,
        *,
        locate: Locate | None = None,
        gather_s: float = _GATHER_S,
        most_together: int | None = None,
        answer_within_s: float = _ANSWER_WITHIN_S,
        most_waiting_bytes: int = _MOST_WAITING_BYTES,
    ) -> None:
        self._sources = sources
        self._publish = publish
        self._locate = locate
        self._answer_within_s = answer_within_s
        self._most_waiting_bytes = most_waiting_bytes
        self._waiting_bytes = 0
        self._reader = PostedReader({}, locate)
        # One round at a time: while the broker has one in hand, the next one fills.
        self._gatherer: Gatherer[Sequence[StreamMessage], None] = Gatherer(
            self._publish_all, gather_s=gather_s, most_together=most_together, at_once=1
        )

    async def read(self, message: EventMessage, sender: str, now: datetime) -> Event:
        """The event of a message, by its source. The sources are read again before anything is refused: a source that
        allows it may have been published a moment ago.

        Raises `NotASender`, `EventFault`, and `Unavailable` when the sources were never read.
        """
        try:
            return self._reading().read(message, sender, now)
        except (NotASender, EventFault):
            await self._sources.look_again()
        return self._reading().read(message, sender, now)

    async def post(self, events: Sequence[Event]) -> None:
        """Returns when the broker has all of the events. Raises `Unavailable` when that is not known: post them again,
        and each is counted once.
        """
        messages = [StreamMessage(partition_key(event), encode_event(event)) for event in events]
        size = sum(len(message.value) for message in messages)
        if self._waiting_bytes + size > self._most_waiting_bytes:
            raise Unavailable(DEPENDENCY, "too many events are waiting for it")
        self._waiting_bytes += size
        try:
            async with asyncio.timeout(self._answer_within_s):
                await self._gatherer.ask(messages)
        except TimeoutError:
            raise Unavailable(DEPENDENCY, f"no answer within {self._answer_within_s:g} s") from None

    def rehearsing(self) -> "EventDesk":
        """A desk that reads events by the same sources, and publishes none."""
        return EventDesk(self._sources, _to_nobody, locate=self._locate)

    async def close(self) -> None:
        await self._gatherer.close()

    def sources(self) -> Sources:
        """The sources by which events are read. Raises `Unavailable` when they were never read."""
        return self._sources.value()

    def _reading(self) -> PostedReader:
        sources = self.sources()
        if self._reader.sources is not sources:
            self._reader = PostedReader(sources, self._locate)
        return self._reader

    async def _publish_all(self, together: Sequence[_Request]) -> None:
        messages = [message for each in together for message in each.request]
        try:
            await self._publish(messages)
        finally:
            self._waiting_bytes -= sum(len(message.value) for message in messages)
        for each in together:
            each.answer(None)


async def without_broker(_: Sequence[StreamMessage]) -> None:
    """Where no broker is configured, no event can be taken."""
    raise Unavailable(DEPENDENCY, "this API has no broker: ABACUS_KAFKA_BOOTSTRAP is not set")


async def _to_nobody(_: Sequence[StreamMessage]) -> None:
    """Nothing is published, and nothing is missed."""


class CountedEventDesk(EventDesk):
    """An `EventDesk` whose outcomes are counted by source."""

    async def read(self, message: EventMessage, sender: str, now: datetime) -> Event:
        try:
            return await super().read(message, sender, now)
        except (NotASender, EventFault):
            source = message.source if message.source in self.sources() else "unknown"
            EVENTS_POSTED.labels(source, "refused").inc()
            raise

    async def post(self, events: Sequence[Event]) -> None:
        await super().post(events)
        for event in events:
            EVENTS_POSTED.labels(event.source, "accepted").inc()
