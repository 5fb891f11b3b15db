"""The topics that are followed, and the documents for each."""

from datetime import UTC, datetime
from typing import Any

import pytest

from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.definition_document import parse_definition
from abacus.signals.counters.decide.topics import asked_by_counters, in_force, topics_of
from abacus.signals.events.decide.source import Source, parse_source

AT = datetime(2026, 5, 1, tzinfo=UTC)
FIELDS = {"type": "/type", "id": "/id", "time": "/at"}


def source(name: str, **changes: Any) -> Source:
    types = {"rain": {"city": "text"}}
    return parse_source({"source": name, "topic": f"{name}.topic", "fields": FIELDS, "types": types, **changes})


def by_http(name: str) -> Source:
    return parse_source({"source": name, "senders": ["acme"], "types": {"rain": {"city": "text"}}})


def catalog(*sources: Source, retired: str | None = None) -> Catalog:
    """A counter of each source."""
    named = {each.name: each.published(1) for each in sources}
    documents = [
        {"id": number, "name": name, "template": f"{name}:{{city}}", "on": [f"{name}/rain"]}
        for number, name in enumerate(named, 1)
    ]
    drafts = [parse_definition(each, named) for each in documents]
    return Catalog([each.published(1, AT, AT if each.name == retired else None) for each in drafts], named)


TOPICS = [
    (catalog(), set()),
    (catalog(source("a")), {"a.topic", "events"}),
    (catalog(source("a"), source("b")), {"a.topic", "b.topic", "events"}),
    (catalog(source("a"), source("b"), retired="b"), {"a.topic", "events"}),
    (catalog(source("a"), retired="a"), set()),
    (catalog(source("a", substream=True)), {"events.a", "events"}),
    (catalog(by_http("a")), {"events"}),
]


@pytest.mark.parametrize(("all_", "topics"), TOPICS)
def test_topics_are_followed_whose_events_count(all_: Catalog, topics: set[str]) -> None:
    assert topics_of(all_, "events") == topics


# A topic, and the definitions that count its events.
COUNTING = [("a.topic", {"a"}), ("b.topic", set()), ("events.b", {"b"}), ("events", {"a", "b", "c"}), ("other", set())]


@pytest.mark.parametrize(("topic", "definitions"), COUNTING)
def test_definitions_count_the_topics_of_their_sources(topic: str, definitions: set[str]) -> None:
    found = in_force(catalog(source("a"), source("b", substream=True), by_http("c")), topic, "events")
    assert {each.name for each in found.definitions} == definitions
    assert found.versions == {1: 1, 2: 1, 3: 1}


def test_a_source_with_a_sub_stream_is_not_read_from_a_topic_that_it_shares() -> None:
    shared = {"topic": "shared", "types": {"rain": {"city": "text"}}}
    all_ = catalog(source("a", **shared), source("b", **shared, substream=True))
    body = b'{"type": "rain", "id": "1", "at": "2026-05-01T00:00:00Z"}'
    for topic, name in (("shared", "a"), ("events.b", "b")):
        event = in_force(all_, topic, "events").read(body, AT)
        assert event is not None
        assert event.source == name


def test_counters_ask_for_their_types_since_the_oldest_of_them() -> None:
    asked = asked_by_counters(catalog(source("a"), source("b"), by_http("c"), retired="b"))
    assert asked.types == {"a": {"rain": AT}, "c": {"rain": AT}}
