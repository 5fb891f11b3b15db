"""A source of events about the weather, definitions that count them, and the events."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.definition_document import parse_definition
from abacus.signals.events.decide.source import Source, parse_source
from abacus.signals.events.types import Event, Value

NOW: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
_OF_A_CITY: Final[Mapping[str, str]] = {"city_id": "text", "station": "integer", "official": "boolean"}
WEATHER_DOCUMENT: Final[Mapping[str, Any]] = {
    "source": "weather",
    "topic": "weather.observations",
    "fields": {"type": "/type", "id": "/id", "time": "/at", "member": "/who", "country": "/country"},
    "types": {
        "rain.drop": {**_OF_A_CITY, "amount": "decimal", "drops": "integer", "tags": "texts", "seen_at": "time"},
        "snow.flake": {**_OF_A_CITY, "amount": "integer"},
    },
}
SKY_DOCUMENT: Final[Mapping[str, Any]] = {
    "source": "sky",
    "senders": ["acme"],
    "types": {"rain.drop": {"city_id": "text"}, "sunset": {"city_id": "text"}},
}
SEA_DOCUMENT: Final[Mapping[str, Any]] = {
    "source": "sea",
    "topic": "sea",
    "fields": {"type": "/type", "id": "/id", "time": "/at"},
    "types": {"wave": {}},
}
SOURCES: Final[Mapping[str, Source]] = {
    document["source"]: parse_source(document).published(1)
    for document in (WEATHER_DOCUMENT, SKY_DOCUMENT, SEA_DOCUMENT)
}
RAIN: Final[Mapping[str, Any]] = {
    "id": 34,
    "name": "count_rain_drops",
    "template": "rain_drops:city:{city_id}",
    "on": ["weather/rain.drop"],
}


def draft(**changes: object) -> Definition:
    """The definition of the published example, changed."""
    return parse_definition({**RAIN, **changes}, SOURCES)


def counter(version: int = 1, **changes: object) -> Definition:
    return draft(**changes).published(version, NOW)


def drop(
    variables: Mapping[str, Value] | None = None,
    *,
    member_id: str | None = "bob",
    country: str | None = "SG",
    **more: Value,
) -> Event:
    return Event("weather", "rain.drop", "D-1", member_id, country, NOW, {**(variables or {}), **more})
