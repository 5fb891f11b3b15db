"""Posted events in the metrics."""

from collections.abc import Sequence
from datetime import datetime

from abacus.signals.events.decide.form import EventFault
from abacus.signals.events.decide.message import EventMessage
from abacus.signals.events.decide.posted import NotASender
from abacus.signals.events.event_desk import EventDesk
from abacus.signals.events.metrics import EVENTS_POSTED
from abacus.signals.events.types import Event


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
