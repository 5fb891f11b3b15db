"""A source of events for tests: rain over cities, on a topic of its own."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from abacus.core.document_text import read_toml
from abacus.signals.events.decide.event_reader import EventReader
from abacus.signals.events.decide.source import Source, parse_source
from abacus.signals.events.decide.whereabouts import Locate
from abacus.signals.events.types import Event

NOW: Final = datetime(2026, 1, 10, 5, tzinfo=UTC)
TOPIC: Final = "weather.observations"
EVENTS_TOPIC: Final = "abacus.events.v1"

TOML: Final = """\
source = "weather"
topic = "weather.observations"
senders = ["acme"]
substream = true

[fields]
type = "/type"
id = "/id"
member = "/who/id"
country = "/country"
time = "/at"

[types."rain.drop"]
city_id = { pointer = "/city/id", type = "text" }
drops = "integer"
amount = "decimal"
heavy = "boolean"
measured_at = "time"
tags = "texts"

[types."rain.end"]
city_id = { pointer = "/city/id", type = "text" }
"""
WEATHER: Final = parse_source(read_toml(TOML))

DROP: Final[Mapping[str, Any]] = {
    "type": "rain.drop",
    "id": "drop-1",
    "who": {"id": "bob"},
    "country": "SG",
    "at": "2026-01-10T12:30:00+08:00",
    "city": {"id": "111222"},
    "drops": 3,
    "amount": "12.50",
    "heavy": False,
    "measured_at": "2026-01-10T04:29:00Z",
    "tags": ["monsoon", "night"],
}


def source(name: str, **changes: Any) -> Source:
    """A small source; fields that are None are left out."""
    document = {
        "source": name,
        "topic": f"{name}.topic",
        "fields": {"type": "/type", "id": "/id", "time": "/at"},
        "types": {"happened": {}},
        **changes,
    }
    return parse_source({field: value for field, value in document.items() if value is not None})


def reader(
    *sources: Source, topic: str = TOPIC, only: Mapping[str, Any] | None = None, locate: Locate | None = None
) -> EventReader:
    return EventReader(sources or [WEATHER], topic, events_topic=EVENTS_TOPIC, only=only, locate=locate)


def read(message: Mapping[str, Any], *sources: Source, topic: str = TOPIC) -> Event | None:
    return reader(*sources, topic=topic).read(json.dumps(message).encode(), NOW)


def put(message: Mapping[str, Any], pointer: str, value: Any) -> dict[str, Any]:
    """The message with another value at a pointer, or without one where the value is `...`."""
    first, _, rest = pointer.removeprefix("/").partition("/")
    changed = dict(message)
    if rest:
        changed[first] = put(changed[first], rest, value)
    elif value is ...:
        changed.pop(first, None)
    else:
        changed[first] = value
    return changed
