"""A part of a topic: windows that meet divide it, whatever the stamps, and reading disturbs no group."""

import uuid
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import GroupAuthorizationFailedError, GroupCoordinatorNotAvailableError, KafkaError
from aiokafka.structs import OffsetAndMetadata

from abacus.core.errors import Refused, Unavailable
from abacus.platform.kafka.groups import committed, when_known
from abacus.platform.kafka.window import OffsetRange, TopicWindow, range_from
from tests.support.services import Services

DAY = datetime(2026, 5, 1, tzinfo=UTC)


def at(minute: int) -> datetime:
    return DAY + timedelta(minutes=minute)


@pytest.fixture
async def topic(services: Services) -> str:
    """Messages that were stamped in these minutes, in one partition in this order."""
    name = f"window.{uuid.uuid4().hex[:8]}"
    async with AIOKafkaProducer(bootstrap_servers=services.kafka_bootstrap) as producer:
        for minute in STAMPS:
            stamp = int(at(minute).timestamp() * 1000)
            await producer.send_and_wait(name, str(minute).encode(), partition=0, timestamp_ms=stamp)
    return name


STAMPS = (10, 30, 20, 40, 40, 50)

# From and to a minute, and the messages that belong there.
WINDOWS = [
    (0, 60, [10, 30, 20, 40, 40, 50]),
    (0, 10, []),
    (0, 11, [10]),
    (10, 30, [10]),
    (30, 40, [30, 20]),  # it was stamped late, and stands where it stands
    (40, 50, [40, 40]),
    (50, 60, [50]),
    (51, 60, []),
]


@pytest.mark.parametrize(("start", "end", "expected"), WINDOWS)
async def test_a_window_holds_its_messages(
    services: Services, topic: str, start: int, end: int, expected: Sequence[int]
) -> None:
    window = TopicWindow(services.kafka_bootstrap, topic, at(start), at(end))
    read = [each async for batch in window.batches() for each in batch]
    assert [int(each.value) for each in read] == expected
    assert [each.stamped_at for each in read] == [at(minute) for minute in expected]
    offsets = window.ranges[0]
    assert (offsets.messages, offsets.after - offsets.first) == (len(expected), len(expected))
    assert [each.offset for each in read] == list(range(offsets.first, offsets.after))
    assert not any(each.forgotten for each in window.ranges.values())


async def test_windows_that_meet_divide_the_topic(services: Services, topic: str) -> None:
    edges = [0, 10, 15, 20, 25, 35, 40, 45, 60]
    read: list[int] = []
    for start, end in pairwise(edges):
        window = TopicWindow(services.kafka_bootstrap, topic, at(start), at(end))
        read += [each.offset async for batch in window.batches() for each in batch]
    assert sorted(read) == list(range(len(STAMPS)))


async def test_reading_disturbs_no_group(services: Services, topic: str) -> None:
    async with AIOKafkaConsumer(
        topic,
        bootstrap_servers=services.kafka_bootstrap,
        group_id=f"{topic}-readers",
        enable_auto_commit=False,
        auto_offset_reset="earliest",
    ) as consumer:
        first = await consumer.getone()
        await consumer.commit()
        window = TopicWindow(services.kafka_bootstrap, topic, at(0), at(60))
        assert sum([len(batch) async for batch in window.batches()]) == len(STAMPS)
        assert (await committed(services.kafka_bootstrap, topic, f"{topic}-readers"))[0] == first.offset + 1
        assert (await consumer.getone()).offset == first.offset + 1
    assert (await committed(services.kafka_bootstrap, topic, "nobody"))[0] == 0


async def test_of_a_topic_that_is_not_there_nothing_is_read(services: Services) -> None:
    window = TopicWindow(services.kafka_bootstrap, "nowhere", at(0), at(60))
    assert [batch async for batch in window.batches()] == []
    with pytest.raises(Refused, match="there is no topic 'nowhere'"):
        await committed(services.kafka_bootstrap, "nowhere", "nobody")


async def test_where_nobody_listens_is_said() -> None:
    window = TopicWindow("127.0.0.1:1", "transactions", at(0), at(60))
    with pytest.raises(Unavailable, match="Kafka unavailable"):
        assert [batch async for batch in window.batches()]


async def test_a_broker_that_falls_silent_is_said(
    services: Services, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AIOKafkaConsumer, "getmany", _nothing)
    window = TopicWindow(services.kafka_bootstrap, topic, at(0), at(60), silent_after_s=0.0)
    with pytest.raises(Unavailable, match="nothing of window"):
        assert [batch async for batch in window.batches()]


async def _nothing(*_: object, **__: object) -> dict[object, object]:
    return {}


# The partition's offsets, the one that the broker names, whether it keeps times; the start, and whether more was there.
BEGINNINGS = {
    "from its first message": (0, 9, 0, True, (0, False)),
    "from the middle": (0, 9, 5, True, (5, False)),
    "nothing so late": (0, 9, None, True, (9, False)),
    "what came before is gone": (3, 9, 3, True, (3, True)),
    "what is gone was older": (3, 9, 5, True, (5, False)),
    "all is gone": (9, 9, None, True, (9, False)),
    "empty": (0, 0, None, True, (0, False)),
    "no times, so from where it begins": (0, 9, None, False, (0, False)),
    "no times, and what came before is gone": (3, 9, None, False, (3, True)),
}


@pytest.mark.parametrize("row", BEGINNINGS.values(), ids=BEGINNINGS)
def test_where_a_range_begins(row: tuple[int, int, int | None, bool, tuple[int, bool]]) -> None:
    begins, ends, named, keeps_times, (first, forgotten) = row
    assert range_from(2, begins, ends, named, keeps_times=keeps_times) == OffsetRange(2, first, first, forgotten)


FIRST, SECOND = TopicPartition("t", 0), TopicPartition("t", 1)
KNOWN = {FIRST: OffsetAndMetadata(7, ""), SECOND: OffsetAndMetadata(-1, "")}
Answer = dict[TopicPartition, OffsetAndMetadata] | KafkaError


def coordinator(*answers: Answer) -> Callable[[], Awaitable[dict[TopicPartition, OffsetAndMetadata]]]:
    """Gives these answers one after the other."""
    left = iter(answers)

    async def ask() -> dict[TopicPartition, OffsetAndMetadata]:
        answer = next(left)
        if isinstance(answer, KafkaError):
            raise answer
        return answer

    return ask


async def test_a_coordinator_that_starts_is_asked_again() -> None:
    ask = coordinator(GroupCoordinatorNotAvailableError(), {}, {FIRST: KNOWN[FIRST]}, KNOWN)
    assert await when_known([FIRST, SECOND], ask) == {0: 7, 1: 0}


@pytest.mark.parametrize("answer", [GroupCoordinatorNotAvailableError(), {}], ids=["says so", "names no partition"])
async def test_a_coordinator_that_never_starts_is_not_taken_for_none_committed(answer: Answer) -> None:
    with pytest.raises(Unavailable):
        await when_known([FIRST, SECOND], coordinator(answer), within_s=0.0)


async def test_another_error_of_the_broker_is_not_waited_for() -> None:
    with pytest.raises(GroupAuthorizationFailedError):
        await when_known([FIRST], coordinator(GroupAuthorizationFailedError()))
