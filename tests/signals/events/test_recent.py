"""The last events: which of them are told, which values are likely, and how often topics are read."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal
from types import MappingProxyType

import pytest

from abacus.core.errors import Unavailable
from abacus.signals.events.decide.message import encode_event
from abacus.signals.events.decide.recent import newest, seen_values
from abacus.signals.events.recent import RecentEvents
from abacus.signals.events.types import Event, Value
from tests.engage.campaigns.offers import NOW, SOURCES
from tests.support.fixed_clock import FixedClock
from tests.support.soon import soon

TYPE = ("transactions", "transaction.completed")
TOPIC = "events"


def bought(
    member_id: str | None,
    number: int = 1,
    values: Mapping[str, Value] = MappingProxyType({"vertical": "food"}),
    *,
    minutes: float = 0,
    country: str | None = "SG",
) -> Event:
    at = NOW - timedelta(minutes=minutes)
    return Event(*TYPE, f"mart:T-{number}", member_id, country, at, values)


@pytest.mark.parametrize(
    ("values", "likely"),
    [
        ([{"vertical": "food"}] * 3, {"vertical": ["food"]}),
        ([{"vertical": "food"}] * 2, {}),
        (
            [{"vertical": each} for each in ("food", "mart") * 3] + [{"vertical": "mart"}],
            {"vertical": ["mart", "food"]},
        ),
        ([{"transaction_id": f"T-{number}"} for number in range(9)], {}),
        ([{"amount": Decimal("5.00"), "cash": True, "at": NOW}] * 4, {}),
        ([{"minutes": 61}] * 3, {"minutes": ["61"]}),
        ([{"tags": ("new", f"of {number}")} for number in range(3)], {"tags": ["new"]}),
    ],
)
def test_a_value_is_likely_that_three_members_have(
    values: list[dict[str, Value]], likely: Mapping[str, Sequence[str]]
) -> None:
    events = [bought(f"m{number}", number, each) for number, each in enumerate(values)]
    assert seen_values(events).get(TYPE, {}) == likely


def test_one_member_makes_no_value_likely_however_often() -> None:
    assert seen_values([bought("bob", number) for number in range(9)]) == {TYPE: {}}


def test_the_newest_events_of_a_country_stand_first_each_once() -> None:
    events = [
        bought("ann", 1, minutes=3),
        bought("bob", 2, minutes=1),
        bought("bob", 2, minutes=1),
        bought("cat", 3, country="ID"),
        bought(None, 4),
        bought("dan", 5, minutes=2, country=None),
        bought("eve", 6)._replace(type="transaction.refunded"),
    ]
    assert [each.member_id for each in newest(events, [TYPE], "SG", 2)] == ["bob", "dan"]


class Topics:
    """The events topic with some messages, and how often it was read."""

    def __init__(self, *events: Event) -> None:
        self.values = [*map(encode_event, events), b"{"]
        self.read = 0
        self.away = False

    async def tail(self, topic: str, _: datetime) -> Sequence[bytes]:
        if self.away:
            raise Unavailable("Kafka", "away")
        if topic != TOPIC:
            return ()
        self.read += 1
        return self.values


async def test_topics_are_read_once_in_a_while_and_old_events_are_left_out() -> None:
    topics, clock = Topics(bought("bob"), bought("old", 2, minutes=1500)), FixedClock(NOW)
    recent = RecentEvents(topics.tail, clock, TOPIC)
    for _ in range(2):
        assert [each.member_id for each in await recent.newest([TYPE], "SG", SOURCES, 9)] == ["bob"]
    assert topics.read == 1
    clock.set(NOW + timedelta(minutes=6))
    topics.values.append(encode_event(bought("cat", 3)))
    assert len(await recent.newest([TYPE], "SG", SOURCES, 9)) == 2


async def test_topics_are_read_beside_each_other() -> None:
    begun, several = set[str](), asyncio.Event()

    async def tail(topic: str, _: datetime) -> Sequence[bytes]:
        begun.add(topic)
        if len(begun) > 1:
            several.set()
        await several.wait()
        return [encode_event(bought("bob"))] if topic == TOPIC else ()

    async with asyncio.timeout(10):
        found = await RecentEvents(tail, FixedClock(NOW), TOPIC).newest([TYPE], "SG", SOURCES, 9)
    assert [each.member_id for each in found] == ["bob"]


async def test_values_are_read_in_the_background_and_nobody_waits_for_a_broker_that_is_away() -> None:
    topics = Topics(*(bought(f"m{number}", number) for number in range(3)))
    recent = RecentEvents(topics.tail, FixedClock(NOW), TOPIC)
    reading = asyncio.create_task(recent.keep_reading())
    topics.away = True
    assert recent.seen(SOURCES) == {}
    with pytest.raises(Unavailable):
        await recent.newest([TYPE], "SG", SOURCES, 9)
    topics.away = False
    await soon(lambda: bool(recent.seen(SOURCES)))
    assert recent.seen(SOURCES) == {TYPE: {"vertical": ["food"]}}
    reading.cancel()
    with suppress(asyncio.CancelledError):
        await reading
