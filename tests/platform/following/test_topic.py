"""The events that a follower reads from a topic's records, and a worker that does several things at a time."""

import asyncio

import pytest

from abacus.core.errors import Unreadable
from abacus.platform.following.together import Run, together
from abacus.platform.following.topic import ReadRecords, read_records
from abacus.platform.kafka.reader import Record


def read(event: bytes) -> int | None:
    if not event.isdigit():
        raise Unreadable("not a number")
    return int(event) or None


@pytest.mark.parametrize(
    ("events", "values"),
    [
        ([], ReadRecords([], 0, 0)),
        ([b"3", b"1", b"2"], ReadRecords([3, 1, 2], 0, 0)),
        ([b"3", b"0", b"x", b"", b"0", b"0", b"2"], ReadRecords([3, 2], 3, 2)),
    ],
)
def test_what_cannot_be_read_holds_up_nothing(events: list[bytes], values: ReadRecords[int]) -> None:
    records = [Record(event, "topic", 0, offset) for offset, event in enumerate(events)]
    assert read_records(records, read) == values


def test_a_fault_of_the_reader_itself_is_nothing_to_pass_over() -> None:
    with pytest.raises(ZeroDivisionError):
        read_records([Record(b"0", "topic", 0, 0)], lambda event: 1 // int(event))


def _until_stopped(ended: list[str], name: str) -> Run:
    async def run(stop: asyncio.Event) -> None:
        try:
            await stop.wait()
            ended.append(name)
        except asyncio.CancelledError:
            ended.append(f"{name} cut off")
            raise

    return run


async def _failing(_: asyncio.Event) -> None:
    raise ZeroDivisionError


async def test_all_run_until_they_are_stopped() -> None:
    ended: list[str] = []
    stop = asyncio.Event()
    running = asyncio.create_task(together(_until_stopped(ended, "one"), _until_stopped(ended, "two"))(stop))
    await asyncio.sleep(0)
    assert not running.done()
    stop.set()
    await running
    assert sorted(ended) == ["one", "two"]


async def test_when_one_fails_the_others_are_cut_off() -> None:
    ended: list[str] = []
    with pytest.raises(ExceptionGroup) as failed:
        await together(_until_stopped(ended, "one"), _failing)(asyncio.Event())
    assert [type(each) for each in failed.value.exceptions] == [ZeroDivisionError]
    assert ended == ["one cut off"]
