"""Whoever decides by a count waits until the counter has passed the event, and no longer than it is told."""

import asyncio
from uuid import UUID

import pytest

from abacus.platform.kafka.topic_id import NoTopicIds
from abacus.platform.postgres import Pool
from abacus.signals.counters.headway import Headway
from abacus.signals.counters.series import SeriesBook, Tally, WriterStart, writer_of
from abacus.signals.events.types import Position
from tests.engage.campaigns.offers import NOW
from tests.support.fixed_clock import FixedClock

pytestmark = pytest.mark.once  # its tables lie on one server, with slices and without

NOW_ID, BEFORE_ID = UUID(int=2), UUID(int=1)


class Broker:
    """Tells ids of topics, or none."""

    def __init__(self, topic_id: UUID | None = NOW_ID) -> None:
        self._id = topic_id

    async def of(self, _: str) -> UUID:
        if self._id is None:
            raise NoTopicIds
        return self._id


class Counter:
    """A counter of two partitions of a topic, of one identity."""

    def __init__(self, book: SeriesBook, identity: str = str(NOW_ID)) -> None:
        self._book = book
        self._identity = identity

    async def counts(self, upto: int, partition: int = 0) -> None:
        """Begins there, or moves there."""
        writer = writer_of(await self._book.live("rides", self._identity), partition)
        await self._book.begin({writer: -1})
        await self._book.move({writer: WriterStart(Tally(upto), {})})


@pytest.fixture
def book(pool: Pool) -> SeriesBook:
    return SeriesBook(pool, FixedClock(NOW))


def at(offset: int, partition: int = 0) -> Position:
    return Position("rides", partition, offset)


async def test_what_is_counted_has_passed(book: SeriesBook) -> None:
    await Counter(book).counts(5)
    headway = Headway(book, Broker(), within_s=0)
    assert await headway.passed([at(4), at(5), at(6), at(0, partition=1)]) == {at(4), at(5)}
    assert await headway.passed([]) == set()


async def test_it_waits_until_the_counter_has_come(book: SeriesBook) -> None:
    counter, headway = Counter(book), Headway(book, Broker(), within_s=60)
    await counter.counts(1)
    waiting = asyncio.create_task(headway.passed([at(1), at(3), at(2, partition=1)]))
    await counter.counts(3)
    await asyncio.sleep(0.1)
    assert not waiting.done()
    await counter.counts(2, partition=1)
    assert await waiting == {at(1), at(3), at(2, partition=1)}


async def test_a_partition_that_was_waited_for_in_vain_is_only_looked_at(book: SeriesBook) -> None:
    """For a while; then it is waited for again."""
    counter, now = Counter(book), asyncio.get_running_loop().time
    await counter.counts(1)

    async def waits_s(headway: Headway) -> float:
        began = now()
        assert await headway.passed([at(2)]) == set()
        return now() - began

    impatient, patient = (Headway(book, Broker(), within_s=1, no_patience_s=each) for each in (3600, 0))
    assert [await waits_s(headway) >= 1 for headway in (impatient, patient, patient)] == [True] * 3
    assert min([await waits_s(impatient) for _ in range(5)]) < 1
    await counter.counts(2)
    assert await impatient.passed([at(2)]) == {at(2)}


@pytest.mark.parametrize(
    ("topic_id", "earlier", "now"),
    [(NOW_ID, str(BEFORE_ID), str(NOW_ID)), (None, "by-last-record-1", "by-last-record-2")],
)
async def test_what_was_counted_of_an_earlier_topic_of_the_name_tells_nothing(
    book: SeriesBook, topic_id: UUID | None, earlier: str, now: str
) -> None:
    headway = Headway(book, Broker(topic_id), within_s=0)
    await Counter(book, earlier).counts(1000)
    if topic_id is not None:
        assert await headway.passed([at(5)]) == set()
    await Counter(book, now).counts(4)
    assert await headway.passed([at(4), at(5)]) == {at(4)}
