"""Posted events: checked against their sources, published together, and refused where that cannot be known."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import pytest

from abacus.core.errors import Reason, Unavailable
from abacus.platform.fresh_copy import Cadence, FreshCopy
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.metrics import total
from abacus.signals.events.decide.form import EventFault
from abacus.signals.events.decide.message import EventMessage, encode_event
from abacus.signals.events.decide.posted import NotASender, PostedReader
from abacus.signals.events.decide.source import Source
from abacus.signals.events.event_desk import CountedEventDesk, without_broker
from abacus.signals.events.kind import by_name
from abacus.signals.events.metrics import EVENTS_POSTED
from abacus.signals.events.types import Event
from tests.signals.events.weather import NOW, WEATHER, put, source

POSTED: Final[Mapping[str, Any]] = {
    "source": "weather",
    "type": "rain.drop",
    "id": "drop-1",
    "member_id": "bob",
    "occurred_at": "2026-01-10T12:30:00+08:00",
    "var": {"city_id": "111222", "amount": 12.5},
}


def message(pointer: str = "", value: Any = None) -> EventMessage:
    return EventMessage.model_validate(put(POSTED, pointer, value) if pointer else POSTED)


def read(posted: EventMessage, sender: str = "acme", *sources: Source) -> Event:
    known = {each.name: each for each in sources or [WEATHER]}
    return PostedReader(known).read(posted, sender, NOW)


class Broker:
    """Keeps what is published; waits while it is told to, and fails while it is away."""

    def __init__(self) -> None:
        self.published: list[list[StreamMessage]] = []
        self.is_away = False
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def publish(self, messages: Sequence[StreamMessage]) -> None:
        await self.may_answer.wait()
        if self.is_away:
            raise Unavailable("Kafka", "away")
        self.published.append(list(messages))


class Shelf:
    """A store of sources, for a directory."""

    def __init__(self, *sources: Source) -> None:
        self.sources = list(sources)

    async def latest(self, _: object) -> Sequence[Source]:
        return list(self.sources)


async def desk(broker: Broker, shelf: Shelf | None = None, **limits: Any) -> CountedEventDesk:
    load = (shelf or Shelf(WEATHER)).latest
    directory = FreshCopy("event sources", load, partial(by_name, ()), Cadence(look_again_every_s=0))
    await directory.refresh()
    return CountedEventDesk(directory, broker.publish, **limits)


def events(count: int) -> list[Event]:
    return [read(message("/id", f"drop-{number}")) for number in range(count)]


def test_a_posted_event_is_that_of_its_source() -> None:
    event = read(message())
    assert (event.key, event.member_id, event.country) == ("weather:rain.drop:drop-1", "bob", None)
    assert event.variables["city_id"] == "111222"
    assert str(event.variables["amount"]) == "12.5"
    assert event.occurred_at == datetime(2026, 1, 10, 4, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("pointer", "value", "fault", "words"),
    [
        ("/type", "rain.drip", "/type", "did you mean rain.drop?"),
        ("/member_id", None, "/member_id", "missing"),
        ("/var", {"city": "1"}, "/var/city", "did you mean city_id?"),
        ("/var", {"city_id": 111222}, "/var/city_id", "not a text"),
        ("/var", {"amount": "a lot"}, "/var/amount", "not a decimal"),
        ("/var", {"measured_at": "noon"}, "/var/measured_at", "not a time"),
        ("/var", {"tags": ["\U0001f327" * 512] * 50}, "/var", "more than 65536 bytes"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(pointer: str, value: Any, fault: str, words: str) -> None:
    with pytest.raises(EventFault) as refused:
        read(message(pointer, value))
    assert (refused.value.pointer, refused.value.reason) == (fault, Reason.INVALID)
    assert words in refused.value.message


def test_an_event_to_come_is_refused() -> None:
    with pytest.raises(EventFault) as refused:
        read(message("/occurred_at", "2026-01-10T06:00:00Z"))
    assert (refused.value.pointer, refused.value.reason) == ("/occurred_at", Reason.IN_THE_FUTURE)


@pytest.mark.parametrize("sender", ["sky", "", "weather"])
def test_only_senders_of_the_source_may_post(sender: str) -> None:
    with pytest.raises(NotASender):
        read(message(), sender)


def test_nobody_may_post_events_of_an_unknown_source() -> None:
    with pytest.raises(NotASender, match="acme may not post events of a source 'nobody'"):
        read(message("/source", "nobody"))


def test_a_source_without_a_topic_and_without_members() -> None:
    app = source("app", topic=None, fields=None, senders=["acme"], types={"visit": {"store": "text"}})
    posted = {"source": "app", "type": "visit", "id": "1", "occurred_at": "2026-01-10T04:30:00Z", "var": {"store": "s"}}
    event = read(EventMessage.model_validate(posted), "acme", app)
    assert (event.member_id, event.variables) == (None, {"store": "s"})
    event = read(EventMessage.model_validate({**posted, "member_id": "bob"}), "acme", app)
    assert event.member_id == "bob"


async def test_events_that_come_together_are_published_together() -> None:
    broker = Broker()
    broker.may_answer.clear()
    counter = await desk(broker)
    first = asyncio.create_task(counter.post(events(1)))
    await asyncio.sleep(0.05)  # the broker has the first round in hand
    others = [asyncio.create_task(counter.post([event])) for event in events(20)]
    await asyncio.sleep(0.05)
    broker.may_answer.set()
    await asyncio.gather(first, *others)
    assert [len(together) for together in broker.published] == [1, 20]
    assert broker.published[1] == [StreamMessage(b"bob", encode_event(event)) for event in events(20)]


async def test_a_broker_that_is_away_is_told_to_every_caller_and_to_no_later_one() -> None:
    broker = Broker()
    broker.is_away = True
    counter = await desk(broker)
    outcomes = await asyncio.gather(*(counter.post(events(2)) for _ in range(5)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [Unavailable] * 5
    broker.is_away = False
    await counter.post(events(3))
    assert [len(together) for together in broker.published] == [3]


async def test_a_broker_that_does_not_answer_keeps_no_caller_for_long() -> None:
    broker = Broker()
    broker.may_answer.clear()
    counter = await desk(broker, answer_within_s=0.05)
    with pytest.raises(Unavailable, match=r"no answer within 0\.05 s"):
        await counter.post(events(1))
    broker.may_answer.set()
    await counter.close()


async def test_what_waits_is_bounded_and_room_is_given_back() -> None:
    broker = Broker()
    broker.may_answer.clear()
    size = len(encode_event(events(1)[0]))
    counter = await desk(broker, most_waiting_bytes=3 * size)
    waiting = asyncio.create_task(counter.post(events(3)))
    await asyncio.sleep(0)
    with pytest.raises(Unavailable, match="too many events are waiting"):
        await counter.post(events(1))
    broker.may_answer.set()
    await waiting
    await counter.post(events(3))
    broker.is_away = True
    for _ in range(3):
        with pytest.raises(Unavailable, match="away"):
            await counter.post(events(3))


async def test_nothing_is_refused_before_the_sources_were_read_again() -> None:
    """A source may have been published a moment ago, or have a new sender or variable."""
    shelf, broker = Shelf(source("weather", senders=["sky"])), Broker()
    counter = await desk(broker, shelf)
    with pytest.raises(NotASender):
        await counter.read(message(), "acme", NOW)
    shelf.sources = [WEATHER.published(2)]
    assert (await counter.read(message(), "acme", NOW)).id == "drop-1"
    shelf.sources = []
    with pytest.raises(NotASender):
        await counter.read(message("/source", "nobody"), "acme", NOW)


async def test_a_rehearsal_checks_and_publishes_nothing() -> None:
    broker = Broker()
    counter = (await desk(broker)).rehearsing()
    before = total(EVENTS_POSTED)
    await counter.post([await counter.read(message(), "acme", NOW)])
    with pytest.raises(EventFault):
        await counter.read(message("/type", "snow"), "acme", NOW)
    assert broker.published == []
    assert total(EVENTS_POSTED) == before


async def test_outcomes_are_counted_by_source() -> None:
    counter = await desk(Broker())
    before = {outcome: total(EVENTS_POSTED, source="weather", outcome=outcome) for outcome in ("accepted", "refused")}
    await counter.post(events(3))
    with pytest.raises(EventFault):
        await counter.read(message("/type", "snow"), "acme", NOW)
    assert total(EVENTS_POSTED, source="weather", outcome="accepted") == before["accepted"] + 3
    assert total(EVENTS_POSTED, source="weather", outcome="refused") == before["refused"] + 1


async def test_without_a_broker_the_setting_is_named() -> None:
    with pytest.raises(Unavailable, match="ABACUS_KAFKA_BOOTSTRAP is not set"):
        await without_broker([])
