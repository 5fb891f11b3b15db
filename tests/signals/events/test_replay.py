"""Messages that were set aside are read again by the sources as they are now, and published."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from abacus.core.errors import Reason, SetAside, Unavailable
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.kafka.reader import Record
from abacus.platform.quarantine.types import Item, Stage
from abacus.signals.events.decide.message import encode_event
from abacus.signals.events.decide.source import parse_source, to_document
from abacus.signals.events.replay import event_item, replay_events
from tests.signals.events.weather import DROP, EVENTS_TOPIC, NOW, TOPIC, WEATHER, put, read

FAULT = SetAside(Reason.INVALID, "/drops: not an integer")


def item(message: Any, topic: str = TOPIC, offset: int = 14) -> Item:
    return event_item(Record(json.dumps(message).encode(), topic, 3, offset), FAULT, bytes)


class Published:
    def __init__(self) -> None:
        self.messages: list[StreamMessage] = []

    async def __call__(self, topic: str, messages: Sequence[StreamMessage]) -> None:
        assert topic == EVENTS_TOPIC
        self.messages += messages


def test_an_item_names_its_message_and_the_place_of_the_fault() -> None:
    set_aside = item(DROP)
    assert set_aside.stage is Stage.EVENT
    assert set_aside.origin == "kafka:weather.observations/3/14"
    assert (set_aside.reason, set_aside.detail) == (Reason.INVALID, "/drops: not an integer")
    assert set_aside.id == item(DROP).id


async def test_what_can_be_read_now_is_published_in_the_one_form() -> None:
    """The source was mended: it takes as text what was no integer."""
    bad = put(DROP, "/drops", "many")
    mended = parse_source(put(to_document(WEATHER), "/types/rain.drop/drops", "text"))
    items = [item(bad), item(DROP, offset=15), item({"type": "rain.drop"}, offset=16)]
    published = Published()
    faults = await replay_events(items, [mended], published, EVENTS_TOPIC, NOW)
    event, other = read(bad, mended), read(DROP)
    assert event is not None
    assert other is not None
    assert [message.key for message in published.messages] == [b"bob"]
    assert published.messages[0].value == encode_event(event)
    assert {key: fault.detail for key, fault in faults.items()} == {
        items[1].id: "/drops: not a text of at most 512 characters",
        items[2].id: "/id: missing",
    }


async def test_an_event_of_the_events_topic_is_read_as_it_stands_there() -> None:
    event = read(DROP)
    assert event is not None
    published = Published()
    own = item(json.loads(encode_event(event)), EVENTS_TOPIC)
    assert await replay_events([own], [WEATHER], published, EVENTS_TOPIC, NOW) == {}
    assert published.messages == [StreamMessage(b"bob", encode_event(event))]


@pytest.mark.parametrize(("message", "topic"), [({**DROP, "type": "snow"}, TOPIC), (DROP, "another.topic"), (DROP, "")])
async def test_what_no_source_takes_any_more_stays(message: Any, topic: str) -> None:
    published = Published()
    gone = item(message, topic)
    faults = await replay_events([gone], [WEATHER], published, EVENTS_TOPIC, NOW)
    assert faults[gone.id].detail == f"no source takes it from {topic} any more"
    assert published.messages == []


async def test_a_broker_that_is_away_is_told() -> None:
    async def away(_topic: str, _messages: Sequence[StreamMessage]) -> None:
        raise Unavailable("Kafka", "away")

    with pytest.raises(Unavailable):
        await replay_events([item(DROP)], [WEATHER], away, EVENTS_TOPIC, NOW)
