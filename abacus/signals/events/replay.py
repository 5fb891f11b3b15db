"""Messages that became no event: set aside, and read again by the sources as they are then."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime

from abacus.core.errors import Reason, SetAside
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.kafka.reader import Record
from abacus.platform.quarantine.types import Item, Stage, origin_of, topic_of
from abacus.signals.events.decide.event_reader import EventReader
from abacus.signals.events.decide.message import encode_event, partition_key
from abacus.signals.events.decide.source import Source
from abacus.signals.events.types import Event

Publish = Callable[[str, Sequence[StreamMessage]], Awaitable[None]]


def again_topic(events_topic: str) -> str:
    """The topic of events that campaigns have to decide once more, and nobody else."""
    return f"{events_topic}-campaigns"


def event_item(record: Record, fault: SetAside, kept: Callable[[bytes], bytes]) -> Item:
    """The item of a message that cannot be read, with what may be `kept` of it. Every follower of its topic makes the
    same item of it.
    """
    return Item.of(Stage.EVENT, origin_of(record.topic, record.partition, record.offset), kept(record.value), fault)


async def replay_events(
    items: Sequence[Item], sources: Iterable[Source], publish: Publish, events_topic: str, now: datetime
) -> dict[str, SetAside]:
    """Publishes those events that can be read now: on the events topic, or where only campaigns decide them again.
    Returns the faults of the others, by the ids of their items. Raises `Unavailable` when the broker may lack any.
    """
    known = list(sources)
    readers: dict[str, EventReader] = {}
    events: dict[str, list[Event]] = {}
    faults: dict[str, SetAside] = {}
    for item in items:
        topic = topic_of(item.origin) or ""
        if topic not in readers:
            readers[topic] = EventReader(known, topic, events_topic=events_topic)
        try:
            event = readers[topic].read(item.body, now)
        except SetAside as fault:
            faults[item.id] = fault
        else:
            if event is None:
                faults[item.id] = SetAside(Reason.INVALID, f"no source takes it from {topic} any more")
            else:
                to = events_topic if item.stage is Stage.EVENT else again_topic(events_topic)
                events.setdefault(to, []).append(event)
    for to, some in events.items():
        await publish(to, [StreamMessage(partition_key(event), encode_event(event)) for event in some])
    return faults
