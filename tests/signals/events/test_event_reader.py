"""Messages become events by the source of their topic, or are set aside with the place of the fault."""

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.errors import Reason, SetAside
from abacus.signals.events.decide.form import EventFault
from abacus.signals.events.decide.message import EventMessage, encode_event, partition_key
from abacus.signals.events.decide.source import substream_topic
from abacus.signals.events.types import Event
from tests.signals.events.weather import DROP, EVENTS_TOPIC, NOW, TOPIC, WEATHER, put, read, reader, source

EVENT = Event(
    "weather",
    "rain.drop",
    "drop-1",
    "bob",
    "SG",
    datetime(2026, 1, 10, 4, 30, tzinfo=UTC),
    {
        "city_id": "111222",
        "drops": 3,
        "amount": Decimal("12.50"),
        "heavy": False,
        "measured_at": datetime(2026, 1, 10, 4, 29, tzinfo=UTC),
        "tags": ("monsoon", "night"),
    },
)


def fault_of(message: Mapping[str, Any]) -> tuple[Reason, str]:
    with pytest.raises(EventFault) as fault:
        read(message)
    return fault.value.reason, fault.value.pointer


def test_an_event_of_a_message() -> None:
    event = read(DROP)
    assert event == EVENT
    assert event.key == "weather:rain.drop:drop-1"


@pytest.mark.parametrize("pointer", ["/city", "/city/id", "/drops", "/amount", "/heavy", "/measured_at", "/tags"])
@pytest.mark.parametrize("absent", [..., None])
def test_a_variable_that_is_missing_is_no_fault(pointer: str, absent: Any) -> None:
    event = read(put(DROP, pointer, absent))
    assert event is not None
    gone = "city_id" if pointer.startswith("/city") else pointer.removeprefix("/")
    assert event.variables == {name: value for name, value in EVENT.variables.items() if name != gone}


def test_the_country_may_be_missing() -> None:
    event = read(put(DROP, "/country", ...))
    assert event is not None
    assert event.country is None


def each(pointer: str, values: list[Any]) -> list[tuple[str, Any]]:
    return [(pointer, value) for value in values]


# A message whose value at the pointer is this is set aside.
WRONG: list[tuple[str, Any]] = [
    *each("/type", [..., None, 5, [], {}]),
    *each("/id", [..., None, "", " x", "x" * 257, "a\nb", 1.5, True, [], 2**64]),
    *each("/who/id", [..., None, "", "x" * 129, True, {}]),
    *each("/country", ["", 65, ["SG"], "x" * 129]),
    *each("/at", [..., None, "", "yesterday", "2026-01-10", "2026-01-10T12:30:00", "20260110T123000Z", 1768019400]),
    *each("/at", ["1999-12-31T23:59:59Z", "2026-02-30T00:00:00Z", "2026-W02-6T12:30:00Z", True]),
    *each("/city/id", [111222, True, "x" * 513, "a\0b", ["x"]]),
    *each("/drops", ["3", 3.0, True, 2**63, -(2**63) - 1]),
    *each("/amount", ["", "1e3", "NaN", "1" * 16, "0.123456789", 0.1234567890123456, 1e300, True, []]),
    *each("/heavy", [0, "false", ""]),
    *each("/measured_at", ["2026-01-10T04:29:00", 1768019340]),
    *each("/tags", ["monsoon", [1], ["x" * 513], ["x"] * 51, {}]),
]


@pytest.mark.parametrize(("pointer", "value"), WRONG)
def test_what_is_wrong_is_set_aside_with_its_place(pointer: str, value: Any) -> None:
    assert fault_of(put(DROP, pointer, value)) == (Reason.INVALID, pointer)


def test_the_first_fault_is_named_in_words() -> None:
    with pytest.raises(SetAside) as fault:
        read({"type": "rain.drop", "id": "drop-1", "at": "2026-01-10T12:30:00Z"})
    assert fault.value.detail == "/who/id: missing"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"\xff", Reason.UNDECODABLE),
        (b"{", Reason.UNDECODABLE),
        (b'{"a": NaN}', Reason.UNDECODABLE),
        (b"[" * 100_000, Reason.UNDECODABLE),
        (json.dumps(DROP)[:-1].encode() + b', "drops": 4}', Reason.INVALID),
        (json.dumps(DROP)[:-1].encode() + b', "d\\u0072ops": 3}', Reason.INVALID),
        (json.dumps(DROP)[:-1].encode() + b', "nobody asked": {"a": 1, "a": 1}}', Reason.INVALID),
        (b'"' + b"x" * 1024 * 1024 + b'"', Reason.UNDECODABLE),
        (b"[]", Reason.INVALID),
        (b"7", Reason.INVALID),
        (b"null", Reason.INVALID),
    ],
)
def test_what_is_no_message(body: bytes, reason: Reason) -> None:
    with pytest.raises(SetAside) as fault:
        reader().read(body, NOW)
    assert fault.value.reason is reason


@given(st.binary())
def test_bytes_are_an_event_or_set_aside(body: bytes) -> None:
    with suppress(SetAside):
        reader().read(body, NOW)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


@given(st.sampled_from(sorted({pointer for pointer, _ in WRONG})), json_values)
def test_any_value_at_any_place_makes_an_event_or_a_fault(pointer: str, value: Any) -> None:
    message = json.dumps(put(DROP, pointer, value)).encode()
    with suppress(SetAside):
        event = reader().read(message, NOW)
        if event is not None:
            again = reader(topic=EVENTS_TOPIC).read(encode_event(event), NOW)
            assert again == event


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=6, allow_nan=False, allow_infinity=False))
def test_a_decimal_is_the_same_as_a_number_and_as_a_text(value: Decimal) -> None:
    """No number of fifteen digits is changed by the float on its way."""
    for written in (f'"{value:f}"', f"{value:f}"):
        event = reader().read(orjson.dumps(put(DROP, "/amount", orjson.Fragment(written))), NOW)
        assert event is not None
        assert event.variables["amount"] == value


def test_what_is_to_come_is_set_aside_beyond_five_minutes() -> None:
    near, far = NOW + timedelta(minutes=5), NOW + timedelta(minutes=5, seconds=1)
    assert read(put(DROP, "/at", near.isoformat())) is not None
    assert fault_of(put(DROP, "/at", far.isoformat())) == (Reason.IN_THE_FUTURE, "/at")


def test_an_event_of_another_type_is_passed_over_whatever_else_it_has() -> None:
    assert read({"type": "snow.flake"}) is None


def test_a_message_without_a_value_is_passed_over() -> None:
    assert reader().read(b"", NOW) is None


def test_ids_may_be_integers() -> None:
    event = read(put(put(DROP, "/id", 17), "/who/id", 42))
    assert event is not None
    assert (event.id, event.member_id) == ("17", "42")


@pytest.mark.parametrize(
    ("format_", "at"), [("epoch-s", 1768019400), ("epoch-s", 1768019400.0), ("epoch-ms", 1768019400000)]
)
def test_times_since_1970(format_: str, at: float) -> None:
    places = {"type": "/type", "id": "/id", "time": {"pointer": "/at", "format": format_}}
    timed = source("clock", fields=places)
    event = read({"type": "happened", "id": "1", "at": at}, timed, topic="clock.topic")
    assert event is not None
    assert event.occurred_at == datetime(2026, 1, 10, 4, 30, tzinfo=UTC)
    for wrong in (0, 10**20, "1768019400", True, None):
        with pytest.raises(SetAside):
            read({"type": "happened", "id": "1", "at": wrong}, timed, topic="clock.topic")


def test_a_type_may_be_that_of_every_message() -> None:
    always = source("clicks", fields={"type": {"always": "happened"}, "id": "/id", "time": "/at"})
    event = read({"id": "1", "at": "2026-01-10T04:30:00Z"}, always, topic="clicks.topic")
    assert event is not None
    assert (event.type, event.member_id, event.variables) == ("happened", None, {})


def test_an_id_of_several_parts_tells_events_apart() -> None:
    places = {"type": "/type", "id": ["/app", "/n"], "time": "/at", "ids": {"other": "/other_id"}}
    parts = source("parts", fields=places, types={"happened": {}, "other": {}})

    def id_of(**message: Any) -> str:
        whole = {"type": "happened", "at": "2026-01-10T04:30:00Z", **message}
        event = read(whole, parts, topic="parts.topic")
        assert event is not None
        return event.id

    assert id_of(app="rides", n=7) == "rides:7"
    assert id_of(app="a:b", n="c") == "a%3Ab:c"
    assert id_of(app="a", n="b:c") == "a:b:c"
    assert id_of(app="a%3Ab", n="c") == "a%253Ab:c"
    assert id_of(type="other", other_id="x") == "x"
    with pytest.raises(SetAside, match="/n: missing"):
        id_of(app="rides")
    with pytest.raises(SetAside, match="/n: not an id"):
        id_of(app="x" * 200, n="y" * 200)


@pytest.mark.parametrize(
    ("pointer", "message", "value"),
    [
        ("/a~1b", {"a/b": "x"}, "x"),
        ("/a~0b", {"a~b": "x"}, "x"),
        ("/", {"": "x"}, "x"),
        ("/list/1", {"list": ["w", "x"]}, "x"),
        ("/list/0/name", {"list": [{"name": "x"}]}, "x"),
        ("/a/b/c/d", {"a": {"b": {"c": {"d": "x"}}}}, "x"),
        ("/list/01", {"list": ["w", "x"]}, None),
        ("/list/-", {"list": ["w"]}, None),
        ("/list/²", {"list": ["w", "x", "y"]}, None),
        ("/list/9999999", {"list": ["w"]}, None),
        ("/text/0", {"text": "x"}, None),
        ("/a/b/c", {"a": {"b": "x"}}, None),
        ("/a/b", {"a": None}, None),
    ],
)
def test_pointers(pointer: str, message: Mapping[str, Any], value: str | None) -> None:
    pointed = source("pointed", types={"happened": {"found": {"pointer": pointer, "type": "text"}}})
    whole = {"type": "happened", "id": "1", "at": "2026-01-10T04:30:00Z", **message}
    event = read(whole, pointed, topic="pointed.topic")
    assert event is not None
    assert event.variables == ({} if value is None else {"found": value})


def test_several_sources_of_a_topic_take_their_own_types() -> None:
    both = [source("b", topic=TOPIC, types={"flood": {}}), source("a", topic=TOPIC, types={"storm": {}})]
    message = {"id": "1", "at": "2026-01-10T04:30:00Z"}
    storm, flood = (read({**message, "type": type_}, *both) for type_ in ("storm", "flood"))
    assert storm is not None
    assert flood is not None
    assert (storm.source, flood.source) == ("a", "b")
    assert read({**message, "type": "snow"}, *both) is None
    with pytest.raises(SetAside, match="/type: missing"):
        read(message, *both)
    for sources in (both, both[:1]):
        with pytest.raises(SetAside, match="/id: missing"):
            read({"type": "flood", "at": "2026-01-10T04:30:00Z"}, *sources)


def test_a_message_of_another_source_of_the_topic_is_no_fault_of_this_one() -> None:
    elsewhere = {"type": "/kind", "id": "/id", "time": "/at"}
    both = [source("a", topic=TOPIC, types={"storm": {}}), source("b", topic=TOPIC, fields=elsewhere)]
    message = {"kind": "happened", "id": "1", "at": "2026-01-10T04:30:00Z"}
    assert reader(*both, only={"a": ["storm"]}).read(orjson.dumps(message), NOW) is None
    event = reader(*both, only={"b": ["happened"]}).read(orjson.dumps(message), NOW)
    assert event is not None
    assert event.source == "b"
    with pytest.raises(SetAside, match="/type: missing"):
        reader(*both, only={"a": ["storm"]}).read(b'{"id": "1"}', NOW)


def test_a_topic_that_no_source_names_has_no_events() -> None:
    assert read(DROP, topic="other.topic") is None


def test_only_the_types_that_are_wanted_are_read() -> None:
    body = orjson.dumps(DROP)
    assert reader(only={"weather": ["rain.drop"]}).read(body, NOW) == EVENT
    assert reader(only={"weather": ["rain.end"]}).read(body, NOW) is None
    assert reader(only={"points": ["x"]}).read(body, NOW) is None


def test_a_sub_stream_is_read_as_its_source() -> None:
    assert read(DROP, topic=substream_topic("weather", EVENTS_TOPIC)) == EVENT
    assert read(DROP, source("dry", topic=TOPIC), topic=substream_topic("dry", EVENTS_TOPIC)) is None


def test_events_of_all_sources_have_one_form_on_the_events_topic() -> None:
    encoded = encode_event(EVENT)
    assert json.loads(encoded) == {
        "source": "weather",
        "type": "rain.drop",
        "id": "drop-1",
        "member_id": "bob",
        "country": "SG",
        "occurred_at": "2026-01-10T04:30:00+00:00",
        "var": {
            "city_id": "111222",
            "drops": 3,
            "amount": "12.50",
            "heavy": False,
            "measured_at": "2026-01-10T04:29:00+00:00",
            "tags": ["monsoon", "night"],
        },
    }
    EventMessage.model_validate_json(encoded)
    assert reader(topic=EVENTS_TOPIC).read(encoded, NOW) == EVENT
    assert partition_key(EVENT) == b"bob"
    assert partition_key(EVENT._replace(member_id=None)) == b"drop-1"


OWN = json.loads(encode_event(EVENT))


@pytest.mark.parametrize(
    ("pointer", "value", "reason", "fault"),
    [
        ("/source", ..., Reason.INVALID, "/source"),
        ("/source", 5, Reason.INVALID, "/source"),
        ("/source", "nobody", Reason.UNKNOWN_SOURCE, "/source"),
        ("/type", ..., Reason.INVALID, "/type"),
        ("/id", ..., Reason.INVALID, "/id"),
        ("/member_id", ..., Reason.INVALID, "/member_id"),
        ("/occurred_at", "2027-01-01T00:00:00Z", Reason.IN_THE_FUTURE, "/occurred_at"),
        ("/var/drops", "3", Reason.INVALID, "/var/drops"),
        ("/var", "x", None, ""),
        ("/type", "snow", None, ""),
    ],
)
def test_faults_on_the_events_topic(pointer: str, value: Any, reason: Reason | None, fault: str) -> None:
    body = orjson.dumps(put(OWN, pointer, value))
    if reason is None:
        reader(topic=EVENTS_TOPIC).read(body, NOW)
        return
    with pytest.raises(EventFault) as raised:
        reader(topic=EVENTS_TOPIC).read(body, NOW)
    assert (raised.value.reason, raised.value.pointer) == (reason, fault)


def test_a_source_that_names_no_member_may_have_events_of_members_all_the_same() -> None:
    for member in ("bob", None):
        event = Event("dry", "happened", "1", member, None, NOW, {})
        assert reader(source("dry"), topic=EVENTS_TOPIC).read(encode_event(event), NOW) == event


def test_what_nobody_wants_is_passed_over_on_the_events_topic() -> None:
    """A source that was published a moment ago may not be known yet: nobody wants it yet either."""
    wanting = reader(topic=EVENTS_TOPIC, only={"weather": ["rain.end"]})
    assert wanting.read(encode_event(EVENT), NOW) is None
    assert wanting.read(encode_event(EVENT._replace(source="nobody")), NOW) is None
    assert WEATHER.name == "weather"
