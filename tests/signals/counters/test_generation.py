"""A topic that was deleted and created anew belongs to another series."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from abacus.core.errors import Unavailable
from abacus.platform.kafka.reader import StartAgain
from abacus.platform.postgres import Pool
from abacus.signals.counters.generation import Generation
from abacus.signals.counters.series import SeriesBook, Tally, WriterStart, writer_of
from abacus.signals.counters.topic import print_of
from tests.signals.counters.memory_topic import MemoryTopic
from tests.support.fixed_clock import FixedClock

pytestmark = pytest.mark.once  # its tables lie on one server, with slices and without

AT = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def book(pool: Pool) -> SeriesBook:
    return SeriesBook(pool, FixedClock(AT))


def filled(topic: MemoryTopic, *values: bytes) -> MemoryTopic:
    for value in values:
        topic.append(0, value, AT)
    return topic


async def test_while_it_runs(book: SeriesBook) -> None:
    topic = MemoryTopic("rides", 2)
    generation = Generation(topic, book)
    first = await generation.series([0, 1], others=False)
    await generation.confirm()
    topic.delete()
    await generation.confirm()  # what was read before is of the topic that was there
    with pytest.raises(Unavailable):
        await generation.series([0], others=False)
    topic.create()
    with pytest.raises(StartAgain):
        await generation.confirm()
    with pytest.raises(StartAgain):
        await generation.series([0], others=True)
    second = await generation.series([0, 1], others=False)
    assert len(set(first.values())) == len(set(second.values())) == 1
    assert first != second
    await generation.confirm()


# What was in the partition when its first record was counted, and what is there when it is begun again; whether it is
# the same topic then.
LATER: list[tuple[Sequence[bytes], Sequence[bytes], bool]] = [
    ([b"one", b"two"], [b"one", b"two"], True),
    ([b"one", b"two"], [b"one", b"two", b"three"], True),
    ([b"one", b"two"], [b"one", b"TWO", b"three"], False),
    ([b"one", b"two"], [b"one"], False),
    ([b"one", b"two"], [], False),
    ([], [], True),
    ([], [b"one"], True),
]


@pytest.mark.parametrize(("before", "after", "same"), LATER)
async def test_where_the_broker_tells_no_ids(
    book: SeriesBook,
    before: Sequence[bytes],
    after: Sequence[bytes],
    same: bool,  # noqa: FBT001  # a column of a table
) -> None:
    topic = filled(MemoryTopic("rides", 2, tells_ids=False), *before)
    series = (await Generation(topic, book).series([0], others=False))[0]
    writer = writer_of(series, 0)
    await book.begin({writer: -1})
    if before:
        last = len(before) - 1
        tally = Tally(last, len(before), len(before), last_offset=last, last_print=print_of(before[-1]))
        assert await book.move({writer: WriterStart(tally, {})})
    topic.delete()
    topic.create()
    filled(topic, *after)
    again = Generation(topic, book)
    assert ((await again.series([0], others=False))[0] == series) == same
    await again.confirm()  # nobody can say more
    assert (await again.series([0], others=False))[0] == (await Generation(topic, book).series([0], others=False))[0]
