"""Where events happened: coordinates become regions as they are read, and nothing else holds them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.errors import Reason, SetAside
from abacus.core.fields import DocumentFaults
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.kafka.reader import Record
from abacus.signals.events.decide.diff import faults_beside
from abacus.signals.events.decide.event_reader import EventReader, own_reader
from abacus.signals.events.decide.form import EventFault
from abacus.signals.events.decide.message import EventMessage, encode_event
from abacus.signals.events.decide.posted import PostedReader
from abacus.signals.events.decide.source import Source, parse_source, to_document
from abacus.signals.events.replay import event_item, replay_events
from tests.signals.events.weather import EVENTS_TOPIC, NOW, reader, source

LAT: Final = 1.3040718
LON: Final = 103.8318227
VISITS: Final = source(
    "visits",
    topic="store.visits",
    senders=["acme"],
    fields={"type": "/type", "id": "/id", "member": "/who", "time": "/at", "lat": "/pos/1", "lon": "/pos/0"},
    types={"visit.made": {"minutes": "integer"}},
)
VISIT: Final[Mapping[str, Any]] = {
    "type": "visit.made",
    "id": "v-1",
    "who": "bob",
    "at": "2026-01-10T12:30:00+08:00",
    "minutes": 12,
    "pos": [LON, LAT],
}
POSTED: Final[Mapping[str, Any]] = {
    "source": "visits",
    "type": "visit.made",
    "id": "v-1",
    "member_id": "bob",
    "occurred_at": VISIT["at"],
    "lat": LAT,
    "lon": LON,
}


def locate(lat: float, lon: float) -> tuple[str, ...]:
    """Two regions overlap in the north east."""
    return (("orchard",) if lat > 1 and lon > 100 else ()) + (("asia",) if lon > 0 else ())


def visits(*sources: Source) -> EventReader:
    return reader(*(sources or [VISITS]), topic="store.visits", locate=locate)


def says_where(kept: object) -> bool:
    return any(each in repr(kept) for each in ("1.304", "103.83"))


def test_an_event_has_regions_and_no_coordinates() -> None:
    event = visits().read(json.dumps(VISIT).encode(), NOW)
    assert event is not None
    assert (event.regions, event.region, event.lies_in("asia"), event.lies_in("moon")) == (
        ("orchard", "asia"),
        "orchard",
        True,
        False,
    )
    assert not says_where(event)
    assert not says_where(encode_event(event))
    assert own_reader([VISITS]).read(encode_event(event), NOW) == event


@pytest.mark.parametrize(
    ("pos", "regions"), [(None, None), ([], None), ([-70, -33.4], ()), (["103.8318", "1.30"], ("orchard", "asia"))]
)
def test_it_may_have_happened_nowhere(pos: object, regions: tuple[str, ...] | None) -> None:
    event = visits().read(json.dumps({**VISIT, "pos": pos}).encode(), NOW)
    assert event is not None
    assert event.regions == regions
    assert own_reader([VISITS]).read(encode_event(event), NOW) == event
    assert event.lies_in("orchard") is (None if regions is None else "orchard" in regions)


def test_without_regions_nobody_says_where_it_happened() -> None:
    event = reader(VISITS, topic="store.visits").read(json.dumps(VISIT).encode(), NOW)
    assert event is not None
    assert event.regions is None


@pytest.mark.parametrize(
    ("pos", "pointer"),
    [
        ([LON, 91], "/pos/1"),
        ([LAT, LON], "/pos/1"),
        ([181.5, LAT], "/pos/0"),
        ([LON, True], "/pos/1"),
        ([LON, "1.3e0"], "/pos/1"),
        ([LON, 10**400], "/pos/1"),
        ([LON], "/pos/1"),
        ([None, LAT], "/pos/0"),
        ([LON, "1." + "3" * 400], "/pos/1"),
        ([LON, [LAT]], "/pos/1"),
    ],
)
def test_what_is_set_aside_says_nowhere_which_they_were(pos: list[Any], pointer: str) -> None:
    value = json.dumps({**VISIT, "pos": pos}).encode()
    with pytest.raises(SetAside) as fault:
        visits().read(value, NOW)
    if isinstance(fault.value, EventFault):
        assert fault.value.pointer == pointer
    item = event_item(Record(value, "store.visits", 0, 1), fault.value, visits().kept)
    assert not says_where(item)
    assert b"333333" not in item.body


async def test_what_is_set_aside_keeps_its_regions_and_is_replayed_with_them() -> None:
    """Whatever else was wrong with it."""
    value = json.dumps({**VISIT, "minutes": "some"}).encode()
    with pytest.raises(EventFault) as fault:
        visits().read(value, NOW)
    item = event_item(Record(value, "store.visits", 0, 1), fault.value, visits().kept)
    assert not says_where(item)
    mended = parse_source({**to_document(VISITS), "types": {"visit.made": {"minutes": "text"}}})
    published: list[bytes] = []

    async def publish(_: str, messages: Sequence[StreamMessage]) -> None:
        published.extend(each.value for each in messages if each.value is not None)

    assert await replay_events([item], [mended], publish, EVENTS_TOPIC, NOW) == {}
    assert json.loads(published[0])["regions"] == ["orchard", "asia"]


@pytest.mark.parametrize("value", [b"{", b"[103.8318227, 1.3040718]", b'{"pos": [103.8318227], "pos": [1.3040718]}'])
def test_what_nobody_can_read_is_not_kept(value: bytes) -> None:
    """Of topics whose messages say where they happened."""
    assert not says_where(visits().kept(value))
    assert reader(source("rain"), topic="rain.topic").kept(value) == value


json_values = st.recursive(
    st.none() | st.sampled_from([LAT, LON, str(LAT), {"regions": [LAT]}]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("01"), inner, max_size=3),
)


@given(json_values)
def test_nothing_is_left_at_the_places_of_coordinates(pos: object) -> None:
    kept = json.loads(visits().kept(json.dumps({**VISIT, "pos": pos}).encode()))["pos"]
    parts = [kept.get("0"), kept.get("1")] if isinstance(kept, dict) else kept[:2] if isinstance(kept, list) else []
    assert all(each is None or list(each) == ["regions"] for each in parts)
    assert all(isinstance(region, str) for each in parts if each is not None for region in each["regions"])


def test_a_sender_posts_coordinates_and_regions_are_published() -> None:
    event = PostedReader({"visits": VISITS}, locate).read(EventMessage.model_validate(POSTED), "acme", NOW)
    assert event.regions == ("orchard", "asia")
    assert not says_where(encode_event(event))


def test_a_sender_may_publish_coordinates_on_the_events_topic() -> None:
    """In our own form; whoever reads them tells regions, and keeps nothing else."""
    own = reader(VISITS, topic=EVENTS_TOPIC, locate=locate)
    value = json.dumps(POSTED).encode()
    event = own.read(value, NOW)
    assert event is not None
    assert event.regions == ("orchard", "asia")
    kept = own.kept(value)
    assert not says_where(kept)
    assert own.read(kept, NOW) == event
    assert own.kept(encode_event(event)) == encode_event(event)
    assert b"left_out" in own.kept(value[:-1])


@pytest.mark.parametrize(("changes", "pointer"), [({"lon": None}, "/lon"), ({"regions": ["orchard"]}, "/regions")])
def test_a_sender_says_where_by_both_coordinates_alone(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(EventFault) as fault:
        PostedReader({"visits": VISITS}, locate).read(EventMessage.model_validate({**POSTED, **changes}), "acme", NOW)
    assert (fault.value.pointer, fault.value.reason) == (pointer, Reason.INVALID)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"fields": {"lon": ...}}, "fields.lon: missing; lat alone says nothing"),
        ({"fields": {"lat": "pos"}}, "fields.lat"),
        ({"substream": True}, "substream: copies messages, and coordinates are never kept"),
    ],
)
def test_what_a_document_may_not_say(changes: dict[str, Any], fault: str) -> None:
    document: dict[str, Any] = to_document(VISITS)
    fields = {**document["fields"], **changes.pop("fields", {})}
    with pytest.raises(DocumentFaults) as faults:
        parse_source(
            {**document, **changes, "fields": {name: each for name, each in fields.items() if each is not ...}}
        )
    assert [str(each) for each in faults.value.faults if str(each).startswith(fault)]
    assert len(faults.value.faults) == 1


def test_no_source_copies_messages_whose_coordinates_another_one_reads() -> None:
    """They would stand in the sub-stream."""
    fields = {"type": "/type", "id": "/id", "member": "/who", "time": "/at"}
    copied = source("steps", topic="store.visits", substream=True, fields=fields, types={"step.made": {}})
    (fault,) = faults_beside(copied, [VISITS], EVENTS_TOPIC)
    assert str(fault).startswith("substream: copies messages of")
    (fault,) = faults_beside(VISITS, [copied], EVENTS_TOPIC)
    assert str(fault).startswith("fields.lat: steps copies messages of")


def test_of_what_is_no_json_nothing_is_kept_that_may_say_where() -> None:
    reader = own_reader([VISITS])
    for broken in (b"{'lat': 1.3, 'lon': 103.8}", b"{lat: 1.3}"):
        assert b"1.3" not in reader.kept(broken)
    assert reader.kept(b"{broken") == b"{broken"
