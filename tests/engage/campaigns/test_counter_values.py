"""The counts that rules ask for have the event itself, and wait for the counter."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from abacus.engage.campaigns.counter_values import CounterValues, Passed, nothing_to_wait_for
from abacus.engage.campaigns.decide.deferred import Deferred, decode_deferred, encode_deferred
from abacus.engage.campaigns.subject import Subject
from abacus.platform.metrics import CAMPAIGN_COUNTERS_BEHIND, total
from abacus.platform.postgres import Pool
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.reading.closed_parts import ClosedParts
from abacus.signals.counters.reading.rounds import Rounds
from abacus.signals.counters.reading.service import CountService
from abacus.signals.events.types import Event, Position, Value, VariableType
from abacus.signals.rules.decide.types import Place, Side
from abacus.signals.rules.rounds import NOT_NOW, NotNow
from tests.engage.campaigns.offers import AROUND, NOW, campaign, order
from tests.signals.counters.reading.asking import catalog, definition, events
from tests.support.fixed_clock import FixedClock
from tests.support.memory_counters import MemoryCounterStore

ON = (("transactions", "transaction.completed"),)
ORDERS = definition("orders:{member_id}", id=1, name="orders", on=ON)
SPENT = definition("spent:{member_id}", id=2, name="spent", on=ON, add="amount", decimals=2)
REFUNDS = definition("refunds:{member_id}", id=3, name="refunds", on=(("elsewhere", "refund"),))
AGO = NOW - timedelta(minutes=7)  # in the quarter before
NOW_S = int(NOW.timestamp())
KNOWN = (ORDERS, SPENT, REFUNDS)


class Counters:
    """Counters in memory, as rules ask them at `NOW`."""

    def __init__(self, pool: Pool, passed: Passed = nothing_to_wait_for, *, adds_event: bool = False) -> None:
        clock, parts = FixedClock(NOW), ClosedParts(10)
        self.store = MemoryCounterStore(clock)
        rounds = Rounds(self.store, clock, within_s=5, parts=parts, keep_s=60)
        service = CountService(lambda: catalog(*KNOWN), rounds, parts, clock, late_by_s=0, keeps=lambda _: False)
        around = replace(AROUND, counters={each.name: each for each in KNOWN})
        self.values = CounterValues(
            pool, lambda: around, service.counts, passed, events_topic="events", adds_event=adds_event
        )

    async def save(self, counter: Definition, key: str, *seconds: int) -> None:
        await self.store.save(events(counter, key, dict.fromkeys(seconds, 1)))

    async def of(self, text: str, event: Event, position: Position | None = None) -> Value | NotNow | None:
        side = Side(text, VariableType.INTEGER, Place.LOOKED_UP, text)
        (value,) = await self.values.of([(Subject(campaign(), "bob", "GRP", position), event, side)])
        return value


@pytest.mark.parametrize(
    ("at", "asked", "count"),
    [
        (NOW, "counter.orders(1h)", 3),  # the quarter in which the range begins is in it, as that of the event is
        (AGO, "counter.orders(1h)", 2),
        (NOW, "counter.orders(15m)", 2),
        (NOW, "counter.orders(today)", 4),
        (NOW, "counter.orders(7d)", 4),
        (NOW - timedelta(days=30), "counter.orders(1h)", None),  # such quarters are not kept any more
    ],
)
async def test_a_range_ends_with_the_quarter_of_the_event(
    pool: Pool, at: datetime, asked: str, count: int | None
) -> None:
    counters = Counters(pool)
    await counters.save(ORDERS, "orders:bob", NOW_S - 7200, NOW_S - 3600, NOW_S - 420, NOW_S)
    assert await counters.of(asked, order(1)._replace(occurred_at=at)) == count


async def test_an_event_that_is_not_sent_yet_is_added(pool: Pool) -> None:
    """To the counts that it will be in."""
    counters = Counters(pool, adds_event=True)
    await counters.save(ORDERS, "orders:bob", NOW_S)
    await counters.save(REFUNDS, "refunds:bob", NOW_S)
    asked = ("orders", "spent", "refunds")
    told = [await counters.of(f"counter.{name}(1h)", order(1, amount=Decimal("15.005"))) for name in asked]
    assert told == [2, Decimal("15.01"), 1]


async def test_who_waits_for_a_counter(pool: Pool) -> None:
    """Nobody waits for one that does not count events of the topic, nor with an event that came from no topic."""
    asked: list[Collection[Position]] = []

    async def none_has_passed(positions: Collection[Position]) -> Sequence[Position]:
        asked.append(positions)
        return []

    counters, here = Counters(pool, none_has_passed), Position("transactions", 3, 17)
    before = total(CAMPAIGN_COUNTERS_BEHIND, topic="transactions")
    told = [await counters.of(f"counter.{name}(1h)", order(1), here) for name in ("orders", "spent", "refunds")]
    assert told == [NOT_NOW, NOT_NOW, 0]
    assert await counters.of("counter.orders(1h)", order(1)) == 0
    assert await counters.of("counter.orders(1h)", order(1), Position("events-campaigns", 0, 5)) == 0
    assert asked == [{here}, {here}]
    assert total(CAMPAIGN_COUNTERS_BEHIND, topic="transactions") - before == 2


@pytest.mark.parametrize("position", [None, Position("rides", 3, 17)])
def test_the_position_of_an_event_travels_with_it(position: Position | None) -> None:
    waiting = Deferred(
        b'{"id":"1"}', "kafka:events/deferred/1", ("market",), 1, datetime(2026, 3, 2, tzinfo=UTC), "away"
    )
    waiting = waiting._replace(position=position)
    body = b'{"v":1,"events":[%b]}' % encode_deferred(waiting)
    assert list(decode_deferred(body.decode())) == [waiting]
    older = body.replace(b',"position":null', b"")
    assert list(decode_deferred(older.decode())) == [waiting]
