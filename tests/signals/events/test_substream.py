"""Sub-streams: which messages are copied, where to, and from where on."""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from abacus.core.errors import Reason, Unavailable
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.kafka.reader import NO_STAMP, Record, StartAgain
from abacus.platform.metrics import total
from abacus.platform.quarantine.types import Stage
from abacus.signals.events.decide.source import Source, substream_topic
from abacus.signals.events.decide.substream import (
    MAX_BYTES,
    Asked,
    Copy,
    Selection,
    TooLarge,
    large_topics,
    wanted_since,
)
from abacus.signals.events.metrics import SUBSTREAM_MESSAGES
from abacus.signals.events.substream import LargeTopics, SubstreamCopier
from tests.signals.events.weather import DROP, EVENTS_TOPIC, NOW, TOPIC, WEATHER, put, source
from tests.support.fixed_clock import FixedClock
from tests.support.memory_quarantine import MemoryQuarantine

SUBSTREAM = substream_topic("weather", EVENTS_TOPIC)
SINCE = datetime(2026, 1, 1, tzinfo=UTC)


def asked(*sources: Source, types: Mapping[str, Collection[str]] | None = None, since: datetime = SINCE) -> Asked:
    """All types of these sources, or of those in `types` the named ones."""
    wanted = {each.name: set(each.variables) for each in sources} if types is None else types
    return Asked({each.name: each for each in sources}, {name: dict.fromkeys(of, since) for name, of in wanted.items()})


def body(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message).encode()


def copied(value: bytes, *sources: Source, types: Mapping[str, Collection[str]] | None = None) -> list[Copy]:
    return list(Selection(asked(*(sources or [WEATHER]), types=types), TOPIC, EVENTS_TOPIC).copies(value, NOW))


def test_a_wanted_event_is_copied_under_its_member() -> None:
    assert copied(body(DROP)) == [Copy(SUBSTREAM, b"bob")]


@pytest.mark.parametrize(
    "value",
    [
        body(put(DROP, "/type", "rain.start")),
        body(put(DROP, "/type", "rain.end")),
        body({"type": "rain.end", "note": "not a rain.drop"}),
        b"not JSON, and of no wanted type",
        b"",
    ],
)
def test_other_messages_are_passed_over(value: bytes) -> None:
    assert copied(value, types={"weather": {"rain.drop"}}) == []


@pytest.mark.parametrize("value", [body(put(DROP, "/id", ...)), body(put(DROP, "/who/id", 7.5)), b"{rain.drop"])
def test_what_does_not_fit_is_left_to_the_readers_and_comes_to_the_same_one_again(value: bytes) -> None:
    [copy] = copied(value)
    assert copy.topic == SUBSTREAM
    assert copied(value) == [copy]


def test_a_type_is_recognised_however_json_writes_it() -> None:
    assert copied(body(DROP).replace(b"rain.drop", b"rain\\u002edrop")) == [Copy(SUBSTREAM, b"bob")]


def test_a_source_whose_messages_name_no_type_is_copied_whole() -> None:
    fields = {"type": {"always": "happened"}, "id": "/id", "time": "/at"}
    always = source("clicks", topic=TOPIC, substream=True, fields=fields)
    message = {"id": "c-1", "at": "2026-01-10T04:00:00Z"}
    assert copied(body(message), always) == [Copy(substream_topic("clicks", EVENTS_TOPIC), b"c-1")]


def test_as_many_types_as_a_source_may_have_are_copied_too() -> None:
    many = source("clicks", topic=TOPIC, substream=True, types={f"type-{number}": {} for number in range(200)})
    message = {"type": "type-7", "id": "c-1", "at": "2026-01-10T04:00:00Z"}
    assert len(copied(body(message), many)) == 1
    assert copied(body({**message, "type": "type-200"}), many) == []


def test_sources_of_one_topic_have_sub_streams_of_their_own() -> None:
    snow = source("snow", topic=TOPIC, substream=True, types={"snow.flake": {}})
    without = source("hail", topic=TOPIC, types={"hail.stone": {}})
    flake = body({"type": "snow.flake", "id": "f-1", "at": "2026-01-10T04:00:00Z"})
    assert copied(flake, WEATHER, snow, without) == [Copy(substream_topic("snow", EVENTS_TOPIC), b"f-1")]
    assert copied(flake.replace(b"snow.flake", b"hail.stone"), WEATHER, snow, without) == []


def test_a_message_of_another_source_of_the_topic_is_not_copied() -> None:
    elsewhere = source("hail", topic=TOPIC, fields={"type": "/kind", "id": "/id", "time": "/at"})
    stone = body({"kind": "happened", "note": "after a rain.drop", "id": "1", "at": "2026-01-10T04:00:00Z"})
    types = {"weather": {"rain.drop"}}
    assert copied(stone, WEATHER, elsewhere, types=types) == []
    assert len(copied(stone, WEATHER, types=types)) == 1


def test_a_message_that_a_topic_may_refuse_is_not_copied() -> None:
    assert len(copied(body(put(DROP, "/note", "x" * (MAX_BYTES - 500))))) == 1
    with pytest.raises(TooLarge, match="bytes; a sub-stream takes messages of at most 1000000"):
        copied(body(put(DROP, "/note", "x" * MAX_BYTES)))
    assert copied(b"x" * 2 * MAX_BYTES) == []


def test_a_topic_is_read_for_each_type_of_each_source_that_somebody_asks_for() -> None:
    snow = source("snow", topic=TOPIC, substream=True)
    all_ = asked(WEATHER, snow, source("a"), source("b", substream=True))
    assert large_topics(all_) == {TOPIC, "b.topic"}
    types = {("weather", "rain.drop"), ("weather", "rain.end"), ("snow", "happened")}
    assert wanted_since(all_, TOPIC) == dict.fromkeys(types, SINCE)
    assert wanted_since(all_, "a.topic") == {}


class Topics:
    """What a copier asks of the broker, and what it publishes."""

    def __init__(self) -> None:
        self.published: list[tuple[str, StreamMessage]] = []
        self.fails = 0
        self.asked = asked(WEATHER)
        self.quarantine = MemoryQuarantine(FixedClock(NOW))
        large = LargeTopics(lambda: self.asked, EVENTS_TOPIC)
        self.copier = SubstreamCopier(
            TOPIC,
            large,
            self.quarantine,
            first_since=self._first_since,
            committed=self._committed,
            publish=self._publish,
            clock=FixedClock(NOW),
            health=WorkerHealth("substream"),
        )

    async def _first_since(self, partitions: Collection[int], moment: datetime) -> Mapping[int, int]:
        return dict.fromkeys(partitions, 100 + (moment - SINCE) // timedelta(minutes=1))

    async def _committed(self) -> Mapping[int, int]:
        return {0: 0, 1: 100_000}

    async def _publish(self, topic: str, messages: Sequence[StreamMessage]) -> None:
        if self.fails:
            self.fails -= 1
            raise Unavailable("Kafka", "away")
        self.published += [(topic, message) for message in messages]


async def test_reading_begins_where_something_is_wanted_and_goes_on_where_it_ended() -> None:
    topics = Topics()
    assert await topics.copier.begin([0, 1, 2]) == {0: 100, 1: 100_000, 2: 100}
    topics.asked = asked(source("other"))
    assert await topics.copier.begin([0, 1]) == {}


async def test_what_is_asked_for_since_a_moment_ago_is_read_again_from_there() -> None:
    """Another process may have passed it over, because it did not know of it yet."""
    topics = Topics()
    lately = NOW - timedelta(minutes=4)
    topics.asked = asked(WEATHER)._replace(types={"weather": {"rain.drop": SINCE, "rain.end": lately}})
    minutes = 100 + (lately - SINCE) // timedelta(minutes=1)
    assert await topics.copier.begin([0, 1]) == {0: 100, 1: minutes}
    topics.asked = asked(WEATHER)._replace(
        types={"weather": {"rain.drop": SINCE, "rain.end": NOW - timedelta(hours=1)}}
    )
    assert await topics.copier.begin([0, 1]) == {0: 100, 1: 100_000}


async def test_copies_keep_the_message_and_its_stamp_and_wait_for_the_broker() -> None:
    topics = Topics()
    topics.fails = 2
    now_ms = int(NOW.timestamp() * 1000)
    stamps = (1_700_000_000_000, now_ms + 86_400_000, NO_STAMP)
    await topics.copier.handle([Record(body(DROP), TOPIC, 0, 100, stamp) for stamp in stamps])
    await topics.copier.handle([Record(b"{}", TOPIC, 0, 101)])
    assert topics.published == [
        (SUBSTREAM, StreamMessage(b"bob", body(DROP), stamp_ms=stamp)) for stamp in (1_700_000_000_000, now_ms, None)
    ]


async def test_messages_are_counted_as_read_and_as_copied() -> None:
    topics = Topics()
    before = [total(SUBSTREAM_MESSAGES, topic=topic) for topic in (TOPIC, SUBSTREAM)]
    await topics.copier.handle([Record(body(DROP), TOPIC, 0, 100), Record(b"{}", TOPIC, 0, 101)])
    after = [total(SUBSTREAM_MESSAGES, topic=topic) for topic in (TOPIC, SUBSTREAM)]
    assert [late - early for early, late in zip(before, after, strict=True)] == [2, 1]


async def test_what_is_too_large_is_set_aside_and_holds_up_nothing() -> None:
    topics = Topics()
    large = body(put(DROP, "/note", "x" * MAX_BYTES))
    await topics.copier.handle([Record(large, TOPIC, 0, 100), Record(body(DROP), TOPIC, 0, 101)])
    assert [message.value for _, message in topics.published] == [body(DROP)]
    [held] = topics.quarantine.kept()
    assert (held.item.stage, held.item.origin, held.item.reason) == (
        Stage.EVENT,
        f"kafka:{TOPIC}/0/100",
        Reason.UNDECODABLE,
    )


async def test_a_type_that_is_asked_for_later_is_copied_from_the_moment_of_asking() -> None:
    """Its messages that were passed over since then are read again, even where nobody told for an hour."""
    topics = Topics()
    topics.asked = asked(WEATHER, types={"weather": {"rain.end"}})
    await topics.copier.begin([0, 1])
    await topics.copier.handle([Record(body(DROP), TOPIC, 0, 100)])
    assert topics.published == []
    an_hour_ago = NOW - timedelta(hours=1)
    topics.asked = asked(WEATHER)._replace(types={"weather": {"rain.end": SINCE, "rain.drop": an_hour_ago}})
    with pytest.raises(StartAgain):
        await topics.copier.handle([Record(body(DROP), TOPIC, 0, 101)])
    minutes = 100 + (an_hour_ago - SINCE) // timedelta(minutes=1)
    assert await topics.copier.begin([0, 1]) == {0: 100, 1: minutes}
    await topics.copier.handle([Record(body(DROP), TOPIC, 0, 100)])
    assert len(topics.published) == 1
    assert await topics.copier.begin([1]) == {1: 100_000}
