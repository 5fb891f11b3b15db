"""The counts that rules ask for have the event itself, and wait for the counter; of a request, they have its key."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest

from abacus.platform.metrics import total
from abacus.platform.postgres import Pool
from abacus.platform.reading.part_cache import PartCache
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.event_measure import Keyed
from abacus.signals.counters.reading.closed_parts import closed_parts
from abacus.signals.counters.reading.rounds import Rounds
from abacus.signals.counters.reading.service import CountService
from abacus.signals.events.decide.source import Source
from abacus.signals.events.types import Position, VariableType
from abacus.signals.facts.counters import CounterFacts, Passed, nothing_to_wait_for
from abacus.signals.facts.decide.counter_sides import COUNTER
from abacus.signals.facts.metrics import CAMPAIGN_COUNTERS_BEHIND
from abacus.signals.facts.types import NOT_NOW, Found
from abacus.signals.rules.decide.types import looked_up
from tests.engage.campaigns.offers import NOW, SOURCES, order
from tests.signals.counters.reading.asking import catalog, definition, events
from tests.signals.facts.requests import Request
from tests.support.fixed_clock import FixedClock
from tests.support.memory_counters import MemoryCounterStore

pytestmark = pytest.mark.once  # its tables lie on one server, with slices and without

ON = (("transactions", "transaction.completed"),)
ORDERS = definition("orders:{member_id}", id=1, name="orders", on=ON)
SPENT = definition("spent:{member_id}", id=2, name="spent", on=ON, add="amount", decimals=2)
REFUNDS = definition("refunds:{member_id}", id=3, name="refunds", on=(("elsewhere", "refund"),))
AGO = NOW - timedelta(minutes=7)  # in the quarter before
NOW_S = int(NOW.timestamp())
KNOWN = (ORDERS, SPENT, REFUNDS)


class Published(NamedTuple):
    counters: Mapping[str, Definition]
    sources: Mapping[str, Source]


class Moment(NamedTuple):
    """Facts of noon in Singapore, or of another time."""

    facts: Keyed
    at: datetime = NOW
    position: Position | None = None
    zone: ZoneInfo = ZoneInfo("Asia/Singapore")


class Counters:
    """Counters in memory, as rules ask them at `NOW`."""

    def __init__(self, pool: Pool, passed: Passed = nothing_to_wait_for, *, adds_event: bool = False) -> None:
        clock = FixedClock(NOW)
        parts = PartCache(closed_parts(10), clock=clock)
        self.store = MemoryCounterStore(clock)
        rounds = Rounds(self.store, within_s=5, parts=parts)
        service = CountService(lambda: catalog(*KNOWN), rounds, parts, clock, late_by_s=0, keeps=lambda _: False)
        published = Published({each.name: each for each in KNOWN}, SOURCES)
        self.facts = CounterFacts(
            pool, lambda: published, service.counts, passed, events_topic="events", adds_event=adds_event
        )

    async def save(self, counter: Definition, key: str, *seconds: int) -> None:
        await self.store.save(events(counter, key, dict.fromkeys(seconds, 1)))

    async def of(self, text: str, moment: Moment) -> Found:
        (value,) = await self.facts.load([(moment, looked_up(COUNTER, text, VariableType.INTEGER))])
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
    assert await counters.of(asked, Moment(order(1), at)) == count


async def test_an_event_that_is_not_sent_yet_is_added(pool: Pool) -> None:
    """To the counts that it will be in."""
    counters = Counters(pool, adds_event=True)
    await counters.save(ORDERS, "orders:bob", NOW_S)
    await counters.save(REFUNDS, "refunds:bob", NOW_S)
    asked = ("orders", "spent", "refunds")
    told = [await counters.of(f"counter.{name}(1h)", Moment(order(1, amount=Decimal("15.005")))) for name in asked]
    assert told == [2, Decimal("15.01"), 1]


async def test_who_waits_for_a_counter(pool: Pool) -> None:
    """Nobody waits for one that does not count events of the topic, nor with an event that came from no topic."""
    asked: list[Collection[Position]] = []

    async def none_has_passed(positions: Collection[Position]) -> Sequence[Position]:
        asked.append(positions)
        return []

    counters, here = Counters(pool, none_has_passed), Position("transactions", 3, 17)
    before = total(CAMPAIGN_COUNTERS_BEHIND, topic="transactions")
    told = [
        await counters.of(f"counter.{name}(1h)", Moment(order(1), position=here))
        for name in ("orders", "spent", "refunds")
    ]
    assert told == [NOT_NOW, NOT_NOW, 0]
    assert await counters.of("counter.orders(1h)", Moment(order(1))) == 0
    assert await counters.of("counter.orders(1h)", Moment(order(1), position=Position("events-campaigns", 0, 5))) == 0
    assert asked == [{here}, {here}]
    assert total(CAMPAIGN_COUNTERS_BEHIND, topic="transactions") - before == 2


async def test_a_request_asks_for_the_counts_of_its_member_and_adds_nothing(pool: Pool) -> None:
    counters = Counters(pool, adds_event=True)
    await counters.save(ORDERS, "orders:bob", NOW_S)
    assert await counters.of("counter.orders(1h)", Moment(Request("home", "bob", "SG", {}))) == 1
    assert await counters.of("counter.orders(1h)", Moment(Request("home", None, "SG", {}))) is None
