"""Source documents: what they may hold, every fault with its path, and documents that come back the same."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.document_text import read_toml
from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults
from abacus.signals.events.decide.places import Always, Coordinates, Places, Pointer, TimeFormat, Variable
from abacus.signals.events.decide.source import (
    BUILT_IN,
    Source,
    parse_source,
    to_document,
)
from abacus.signals.events.kind import SOURCES
from abacus.signals.events.types import VariableType
from tests.signals.events.weather import TOML, WEATHER, put

DOCUMENT = to_document(WEATHER)

names = st.from_regex(r"[a-z][a-z0-9-]{0,10}", fullmatch=True).filter(lambda name: name not in BUILT_IN)
types = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,10}", fullmatch=True)
variable_names = st.from_regex(r"[a-z][a-z0-9_]{0,10}", fullmatch=True).filter(
    lambda name: name not in {"member_id", "country"}
)
pointers = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=6), min_size=1, max_size=3
).map(lambda steps: Pointer("/" + "/".join(step.replace("~", "~0").replace("/", "~1") for step in steps)))
variables = st.dictionaries(variable_names, st.builds(Variable, pointers, st.sampled_from(VariableType)), max_size=4)
ids = st.lists(pointers, min_size=1, max_size=3).map(tuple)
maybe = st.none() | pointers


@st.composite
def sources(draw: st.DrawFn) -> Source:
    taken = draw(st.dictionaries(types, variables, min_size=1, max_size=4))
    type_ = draw(pointers | st.sampled_from(sorted(taken)).map(Always))
    is_copied = draw(st.booleans())
    where = draw(st.none() | st.builds(Coordinates, pointers, pointers)) if not is_copied else None
    places = Places(
        type_,
        draw(ids),
        draw(pointers),
        draw(st.sampled_from(TimeFormat)),
        draw(maybe),
        draw(maybe),
        draw(st.dictionaries(st.sampled_from(sorted(taken)), ids, max_size=2)),
        where,
    )
    senders = draw(st.frozensets(st.from_regex(r"[a-z0-9][a-z0-9-]{0,10}", fullmatch=True), max_size=2))
    return Source(draw(names), "some.topic", senders, is_copied, places, taken)


def test_the_source_of_a_document() -> None:
    assert parse_source(read_toml(TOML)) == Source(
        "weather",
        "weather.observations",
        frozenset({"acme"}),
        substream=True,
        places=Places(
            Pointer("/type"),
            (Pointer("/id"),),
            Pointer("/at"),
            TimeFormat.RFC3339,
            Pointer("/who/id"),
            Pointer("/country"),
        ),
        variables={
            "rain.drop": {
                "city_id": Variable(Pointer("/city/id"), VariableType.TEXT),
                "drops": Variable(Pointer("/drops"), VariableType.INTEGER),
                "amount": Variable(Pointer("/amount"), VariableType.DECIMAL),
                "heavy": Variable(Pointer("/heavy"), VariableType.BOOLEAN),
                "measured_at": Variable(Pointer("/measured_at"), VariableType.TIME),
                "tags": Variable(Pointer("/tags"), VariableType.TEXTS),
            },
            "rain.end": {"city_id": Variable(Pointer("/city/id"), VariableType.TEXT)},
        },
    )


def test_the_types_of_variables_and_the_label() -> None:
    assert WEATHER.types["rain.end"] == {"city_id": VariableType.TEXT}
    assert (WEATHER.label, WEATHER.published(3).label) == ("weather@0", "weather@3")


def test_a_source_without_a_topic_needs_no_places() -> None:
    source = parse_source(read_toml('source = "app"\nsenders = ["acme"]\n[types."store.visited"]\nstore_id = "text"\n'))
    assert (source.topic, source.places, source.senders) == (None, None, frozenset({"acme"}))
    assert source.types == {"store.visited": {"store_id": VariableType.TEXT}}


@pytest.mark.long
@given(sources())
def test_every_source_comes_back_from_its_documents(source: Source) -> None:
    assert parse_source(to_document(source)) == source
    assert parse_source(read_toml(SOURCES.to_toml(source))) == source


def test_a_source_is_written_as_a_person_writes_it() -> None:
    assert parse_source(read_toml(SOURCES.to_toml(WEATHER))) == WEATHER
    assert SOURCES.to_toml(WEATHER).splitlines()[:13] == [
        'source = "weather"',
        'topic = "weather.observations"',
        'senders = ["acme"]',
        "substream = true",
        "",
        "[fields]",
        'type = "/type"',
        'id = "/id"',
        'member = "/who/id"',
        'country = "/country"',
        'time = "/at"',
        "",
        '[types."rain.drop"]',
    ]
    assert 'city_id = { pointer = "/city/id", type = "text" }' in SOURCES.to_toml(WEATHER)


FAULTS: list[tuple[str, Any, str, str]] = [
    ("/source", ..., "source", "missing"),
    ("/source", "Weather", "source", "is not a source"),
    ("/source", "tiers", "source", "there from the start"),
    ("/source", "w" * 41, "source", "is not a source"),
    ("/topic", "a topic", "topic", "is not a topic"),
    ("/topic", "..", "topic", "is not a topic"),
    ("/topic", 7, "topic", "7 is an integer"),
    ("/senders", "acme", "senders", "an array of partners' ids"),
    ("/senders", ["ACME"], "senders", "is not a partner's id"),
    ("/senders", [f"p{number}" for number in range(101)], "senders", "at most 100"),
    ("/substream", "yes", "substream", "true or false"),
    ("/fields", ..., "fields", "missing"),
    ("/fields", [], "fields", "write a table"),
    ("/fields/type", ..., "fields.type", "missing"),
    ("/fields/type", "type", "fields.type", "is not a JSON pointer"),
    ("/fields/type", {"always": "snow"}, "fields.type.always", "not among the types"),
    ("/fields/type", {"always": "rain.drop", "never": 1}, "fields.type.never", "unknown"),
    ("/fields/id", "/~2", "fields.id", "is not a JSON pointer"),
    ("/fields/id", "/" + "x" * 256, "fields.id", "is not a JSON pointer"),
    ("/fields/id", [], "fields.id", "at most 5"),
    ("/fields/id", ["/a"] * 6, "fields.id", "at most 5"),
    ("/fields/ids", {"snow": "/id"}, "fields.ids.snow", "not among the types"),
    ("/fields/member", 5, "fields.member", "5 is an integer"),
    ("/fields/time", {"pointer": "/at", "format": "unix"}, "fields.time.format", "epoch-s"),
    ("/fields/time", {"format": "epoch-s"}, "fields.time.pointer", "missing"),
    ("/fields/when", "/at", "fields.when", "unknown"),
    ("/types", ..., "types", "missing"),
    ("/types", {}, "types", "empty"),
    ("/types", {f"t{number}": {} for number in range(201)}, "types", "at most 200"),
    ("/types/rain drop", {}, 'types."rain drop"', "is not a type of events"),
    ("/types/snow", "text", "types.snow", "write a table"),
    ("/types/rain.end/City", "text", "types.rain.end.City", "is not a variable"),
    ("/types/rain.end/country", "text", "types.rain.end.country", "name its place as country under fields"),
    ("/types/rain.end/member_id", "text", "types.rain.end.member_id", "name its place as member under fields"),
    ("/types/rain.end/city_id", "string", "types.rain.end.city_id", "is not a type of variables"),
    ("/types/rain.end/city_id", {"type": "text"}, "types.rain.end.city_id.pointer", "missing"),
    ("/types/rain.end/city_id", {"pointer": "", "type": "text"}, "types.rain.end.city_id.pointer", "JSON pointer"),
    ("/types/rain.end", {f"v{number}": "text" for number in range(101)}, "types.rain.end", "at most 100"),
    ("/types/rain", {"drop": {"city_id": {"pointer": "/c", "type": "text"}}}, "types.rain.drop", 'types."rain.drop"'),
    ("/colour", "blue", "colour", "unknown"),
]


@pytest.mark.parametrize(("pointer", "value", "path", "message"), FAULTS)
def test_a_fault_is_named_with_its_path(pointer: str, value: Any, path: str, message: str) -> None:
    with pytest.raises(DocumentFaults) as refused:
        parse_source(put(DOCUMENT, pointer, value))
    assert [fault.path for fault in refused.value.faults] == [path]
    assert message in refused.value.faults[0].message


def test_all_faults_are_named_at_once() -> None:
    with pytest.raises(DocumentFaults) as refused:
        parse_source(read_toml('topic = "x"\n[fields]\nid = "id"\n[types.a]\nb = 1\n'))
    assert [fault.path for fault in refused.value.faults] == [
        "source",
        "types.a.b",
        "fields.type",
        "fields.id",
        "fields.time",
    ]


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({"source": "app", "types": {"a": {}}}, "topic"),
        ({"source": "app", "types": {"a": {}}, "senders": ["acme"], "substream": True}, "substream"),
    ],
)
def test_a_source_needs_a_way_in(document: Mapping[str, Any], path: str) -> None:
    with pytest.raises(DocumentFaults) as refused:
        parse_source(document)
    assert [fault.path for fault in refused.value.faults] == [path]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["source", "topic", "fields", "types", "type", "id", "time", "a"]), inner)
        ),
    )
)
def test_no_document_raises_anything_else(document: Any) -> None:
    if isinstance(document, dict):
        with suppress(DocumentFaults):
            parse_source(document)


@pytest.mark.parametrize(
    ("label", "name", "version"), [("weather", "weather", None), ("weather@3", "weather", 3), ("points@0", "points", 0)]
)
def test_labels(label: str, name: str, version: int | None) -> None:
    assert SOURCES.split_label(label) == (name, version)


@pytest.mark.parametrize("label", ["", "Weather", "weather@", "weather@x", "weather@01", "weather.toml"])
def test_no_labels(label: str) -> None:
    with pytest.raises(Refused, match="does not name a source"):
        SOURCES.split_label(label)
