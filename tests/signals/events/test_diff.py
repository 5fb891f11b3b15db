"""The changes of a source in words, and sources beside each other."""

import pytest

from abacus.core.document_text import read_toml
from abacus.signals.events.decide.builtin import built_in
from abacus.signals.events.decide.diff import faults_beside
from abacus.signals.events.decide.source import Source, parse_source, to_document
from abacus.signals.events.kind import SOURCES
from tests.signals.events.weather import EVENTS_TOPIC, TOML, WEATHER, put, source

DOCUMENT = to_document(WEATHER)


def changed(*changes: tuple[str, object]) -> Source:
    document = DOCUMENT
    for pointer, value in changes:
        document = put(document, pointer, value)
    return parse_source(document)


def test_a_first_version_has_everything() -> None:
    lines = SOURCES.changes(None, WEATHER)
    assert lines[:4] == [
        "first version of weather",
        "topic: weather.observations",
        "substream: the types that are asked for",
        "senders.acme: may post events",
    ]
    assert "types.rain.drop.city_id: text at /city/id" in lines
    assert lines[-2:] == ["types.rain.end: taken", "types.rain.end.city_id: text at /city/id"]


def test_equal_sources_have_no_changes_whatever_their_versions() -> None:
    assert SOURCES.changes(WEATHER.published(3), parse_source(read_toml(TOML))) == []


@pytest.mark.parametrize(
    ("pointer", "value", "line"),
    [
        ("/topic", "rain.v2", "topic: weather.observations → rain.v2"),
        ("/substream", ..., "substream: removed (was the types that are asked for)"),
        ("/senders", ["acme", "sky"], "senders.sky: added, may post events"),
        ("/senders", ..., "senders.acme: removed (was may post events)"),
        ("/fields/type", {"always": "rain.end"}, "fields.type: /type → always rain.end"),
        ("/fields/id", ["/station", "/id"], "fields.id: /id → /station and /id"),
        ("/fields/ids", {"rain.end": "/end"}, "fields.ids.rain.end: added, /end"),
        ("/fields/member", ..., "fields.member: removed (was /who/id)"),
        ("/fields/time", {"pointer": "/at", "format": "epoch-ms"}, "fields.time: /at → /at as epoch-ms"),
        ("/types/rain.end/minutes", "integer", "types.rain.end.minutes: added, integer at /minutes"),
        ("/types/rain.end/city_id", "text", "types.rain.end.city_id: text at /city/id → text at /city_id"),
        ("/types/rain.end/city_id", ..., "types.rain.end.city_id: removed (was text at /city/id)"),
        ("/types/snow", {}, "types.snow: added, taken"),
    ],
)
def test_each_change_is_one_line(pointer: str, value: object, line: str) -> None:
    assert SOURCES.changes(WEATHER, changed((pointer, value))) == [line]


def test_a_source_without_a_topic() -> None:
    app = source("app", topic=None, fields=None, senders=["acme"])
    assert "topic: none; events come by HTTP alone" in SOURCES.changes(None, app)


OTHERS = [
    *built_in(transactions_topic="t.v1", points_topic="p.v1", tiers_topic="r.v1"),
    WEATHER.published(2),
    source("clicks", topic="clicks.v1", fields={"type": {"always": "happened"}, "id": "/id", "time": "/at"}),
]


@pytest.mark.parametrize(
    ("draft", "faults"),
    [
        (source("news"), []),
        (WEATHER, []),
        (source("news", topic=None, fields=None, senders=["acme"]), []),
        (source("news", topic="weather.observations", types={"snow": {}}), []),
        (source("news", topic="t.v1", types={"booking.cancelled": {}}), []),
        (
            source("news", topic="weather.observations", types={"snow": {}, "rain.drop": {}}),
            [("types.rain.drop", "weather takes it from weather.observations already")],
        ),
        (
            source("news", topic="t.v1", types={"transaction.completed": {}}),
            [("types.transaction.completed", "transactions takes it from t.v1 already")],
        ),
        (source("news", topic="clicks.v1"), [("topic", "clicks takes every message of clicks.v1")]),
        (
            source(
                "news",
                topic="weather.observations",
                fields={"type": {"always": "happened"}, "id": "/id", "time": "/at"},
            ),
            [("topic", "news takes every message of weather.observations, so weather cannot take any")],
        ),
        (source("news", topic=EVENTS_TOPIC), [("topic", "the events of all sources")]),
        (source("news", topic=f"{EVENTS_TOPIC}.weather"), [("topic", "sub-streams")]),
    ],
)
def test_sources_of_one_topic_take_different_types(draft: Source, faults: list[tuple[str, str]]) -> None:
    found = faults_beside(draft, OTHERS, EVENTS_TOPIC)
    assert [fault.path for fault in found] == [path for path, _ in faults]
    assert all(message in fault.message for fault, (_, message) in zip(found, faults, strict=True))


def test_a_source_has_a_sub_stream_for_ever_or_never() -> None:
    with_, without = source("news", substream=True).published(1), source("news").published(1)
    for before, draft in ((with_, source("news")), (without, source("news", substream=True))):
        [fault] = faults_beside(draft, [before], EVENTS_TOPIC)
        assert fault.path == "substream"
    assert faults_beside(source("news", substream=True, types={"read": {}}), [with_], EVENTS_TOPIC) == []
