"""`RowPublisher` over rows in memory: it publishes in order, at least once, and marks rows that the broker has."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge

from abacus.core.errors import Unavailable
from abacus.platform.following.row_publisher import Batch, Meter, RowPublisher
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.postgres import Connection
from tests.support.fixed_clock import FixedClock

NOW: Final = datetime(2026, 5, 1, tzinfo=UTC)
NO_CONNECTION: Final[Connection] = None


class Rows:
    """Numbers; so many of them, from the first on, are published."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.cursor = 0

    async def next(self, _: Connection) -> Batch[int] | None:
        rows = range(self.cursor, min(self.cursor + 2, self.count))
        if not rows:
            return None
        return Batch([StreamMessage(b"key", b"%d" % row) for row in rows], NOW - timedelta(seconds=9), rows[-1] + 1)

    async def published(self, _: Connection, mark: int) -> None:
        self.cursor = mark


class Broker:
    """A broker that keeps the messages; it can be down, or take them all while its answer gets lost."""

    def __init__(self) -> None:
        self.values: list[bytes] = []
        self.is_down = self.is_unheard = False

    async def connect(self) -> None:
        if self.is_down:
            raise Unavailable("Kafka", "down")

    async def publish(self, topic: str, messages: Sequence[StreamMessage]) -> None:
        assert topic == "topic"
        await self.connect()
        self.values += [message.value for message in messages]
        if self.is_unheard:
            raise Unavailable("Kafka", "no answer")


@pytest.fixture
def meter() -> Meter:
    registry = CollectorRegistry()
    return Meter(Counter("published", "", registry=registry), Gauge("behind", "", registry=registry))


def publishing(rows: Rows, broker: Broker, meter: Meter | None = None) -> RowPublisher[int]:
    return RowPublisher(rows, broker, "topic", FixedClock(NOW), meter)


async def test_batch_after_batch_in_order(meter: Meter) -> None:
    rows, broker = Rows(3), Broker()
    work = publishing(rows, broker, meter)
    counts = [await work.publish_next(NO_CONNECTION) for _ in range(2)]
    assert (counts, broker.values) == ([2, 1], [b"0", b"1", b"2"])
    assert (_value(meter.published), _value(meter.behind)) == (3, 9)
    assert await work.publish_next(NO_CONNECTION) == 0
    assert (_value(meter.published), _value(meter.behind)) == (3, 0)


@pytest.mark.parametrize(("fault", "values"), [("is_down", [b"0"]), ("is_unheard", [b"0", b"0"])])
async def test_rows_are_marked_only_when_the_broker_has_them(fault: str, values: list[bytes]) -> None:
    rows, broker = Rows(1), Broker()
    setattr(broker, fault, True)
    with pytest.raises(Unavailable):
        await publishing(rows, broker).publish_next(NO_CONNECTION)
    assert rows.cursor == 0
    setattr(broker, fault, False)
    assert await publishing(rows, broker).publish_next(NO_CONNECTION) == 1
    assert (rows.cursor, broker.values) == (1, values)


async def test_who_stands_by_tells_of_nothing_that_waits(meter: Meter) -> None:
    """Else the lag of its last publishing would stand there for ever, and an alert would fire."""
    broker = Broker()
    broker.is_down = True
    work = publishing(Rows(1), broker, meter)
    with pytest.raises(Unavailable):
        await work.publish_next(NO_CONNECTION)
    assert _value(meter.behind) == 9
    work.nothing_waits()
    assert _value(meter.behind) == 0


def _value(metric: Counter | Gauge) -> float:
    return next(sample.value for each in metric.collect() for sample in each.samples)
