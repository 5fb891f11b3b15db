"""The consumer deletes the messages that are done and no others, and keeps the rest as long as the work lasts.

All of it on virtual time: the consumer waits as long as in production, and a busy machine changes nothing.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest
from structlog.testing import capture_logs

from abacus.core.errors import RightMissing, Unavailable
from abacus.platform.health import WorkerHealth, WorkerState
from abacus.platform.sqs.consumer import KEEP_S, REST_S, Handler, QueueConsumer
from abacus.platform.sqs.port import Queue, Received
from tests.platform.sqs.line import Line
from tests.reliability.simulation.virtual_time import virtually

ENDS_WITHIN_S = 21.0  # messages in hand have twenty seconds
DATABASE_DOWN = Unavailable("database", "connection refused")


@asynccontextmanager
async def working(
    line: Queue, handle: Handler, *, hands: int = 1, health: WorkerHealth | None = None
) -> AsyncIterator[None]:
    """A consumer at work; at the end it is told to stop and must do so."""
    stop = asyncio.Event()
    consumer = QueueConsumer(line, handle, health or WorkerHealth("awarder"), hands=hands)
    task = asyncio.create_task(consumer.run(stop))
    try:
        yield
    finally:
        stop.set()
        async with asyncio.timeout(ENDS_WITHIN_S):
            await task


def ids(messages: Sequence[Received]) -> list[str]:
    return [message.id for message in messages]


# Of the messages "1", "2" and "3": those that make the handler fail, those that it does not return; the batches that it
# was given, and the messages that were deleted in the end.
BATCHES: list[tuple[str, set[str], set[str], list[list[str]], list[str]]] = [
    ("all done", set(), set(), [["1", "2", "3"]], ["1", "2", "3"]),
    ("one not done", set(), {"2"}, [["1", "2", "3"]], ["1", "3"]),
    ("none done", set(), {"1", "2", "3"}, [["1", "2", "3"]], []),
    ("one fails", {"2"}, set(), [["1", "2", "3"], ["1"], ["2"], ["3"]], ["1", "3"]),
    ("one fails, one not done", {"1"}, {"3"}, [["1", "2", "3"], ["1"], ["2"], ["3"]], ["2"]),
    ("all fail", {"1", "2", "3"}, set(), [["1", "2", "3"], ["1"], ["2"], ["3"]], []),
]


@pytest.mark.parametrize(
    ("poison", "undone", "batches", "deleted"), [pytest.param(*row, id=name) for name, *row in BATCHES]
)
@virtually
async def test_what_is_deleted(
    poison: set[str], undone: set[str], batches: list[list[str]], deleted: list[str]
) -> None:
    line, given = Line("1", "2", "3"), list[list[str]]()

    async def handle(messages: Sequence[Received]) -> Sequence[Received]:
        given.append(ids(messages))
        if poison.intersection(given[-1]):
            raise ZeroDivisionError
        return [message for message in messages if message.id not in undone]

    with capture_logs() as logs:
        async with working(line, handle):
            await line.idle.wait()
    assert (given, line.deleted) == (batches, deleted)
    assert [(log["event"], log["message"]) for log in logs if log["log_level"] == "error"] == [
        ("message failed", each) for each in sorted(poison)
    ]


@virtually
async def test_nothing_is_deleted_before_the_handler_has_returned() -> None:
    line, begun, release = Line("1"), asyncio.Event(), asyncio.Event()

    async def handle(messages: Sequence[Received]) -> Sequence[Received]:
        begun.set()
        await release.wait()
        return messages

    async with working(line, handle):
        await begun.wait()
        await asyncio.sleep(3600)
        assert line.deleted == []
        release.set()
        await line.idle.wait()
    assert line.deleted == ["1"]


@virtually
async def test_while_a_dependency_is_down_it_holds_what_it_has_and_takes_nothing_new() -> None:
    line, health = Line("1", "2", "3", at_a_time=2), WorkerHealth("awarder")
    seen: list[tuple[list[str], WorkerState, int]] = []

    async def handle(messages: Sequence[Received]) -> Sequence[Received]:
        seen.append((ids(messages), health.state, line.receives))
        if len(seen) <= 2:
            raise DATABASE_DOWN
        return messages

    async with working(line, handle, health=health):
        await line.idle.wait()
    assert seen == [
        (["1", "2"], WorkerState.READY, 1),
        (["1", "2"], WorkerState.WAITING, 1),
        (["1", "2"], WorkerState.WAITING, 1),
        (["3"], WorkerState.READY, 2),
    ]
    assert (line.deleted, health.state) == (["1", "2", "3"], WorkerState.READY)


@virtually
async def test_a_dependency_that_goes_down_among_isolated_messages_loses_none_of_them() -> None:
    line, given = Line("1", "2", "3"), list[list[str]]()

    async def handle(messages: Sequence[Received]) -> Sequence[Received]:
        given.append(ids(messages))
        if len(messages) > 1:
            raise ZeroDivisionError
        if given.count(["2"]) == 1 and given[-1] == ["2"]:
            raise DATABASE_DOWN
        return messages

    async with working(line, handle):
        await line.idle.wait()
    assert line.deleted == ["1", "2", "3"]


@pytest.mark.parametrize("messages", [["1"], ["1", "2", "3"]])
@virtually
async def test_a_fault_of_no_message_ends_the_worker_and_deletes_nothing(messages: list[str]) -> None:
    line, given = Line(*messages), list[list[str]]()

    async def handle(messages: Sequence[Received]) -> Sequence[Received]:
        given.append(ids(messages))
        raise RightMissing("permission denied")

    with pytest.raises(ExceptionGroup) as failed:
        await QueueConsumer(line, handle, WorkerHealth("awarder")).run(asyncio.Event())
    assert failed.group_contains(RightMissing)
    assert (given, line.deleted) == ([messages], [])


@pytest.mark.parametrize("operation", ["receive", "delete"])
@virtually
async def test_a_queue_that_is_down_is_asked_again(operation: str) -> None:
    line, given, health = Line("1", "2"), list[list[str]](), WorkerHealth("awarder")
    line.down[operation] = 2

    async def handle(messages: Sequence[Received]) -> Sequence[Received]:
        given.append(ids(messages))
        return messages

    async with working(line, handle, health=health):
        await line.idle.wait()
    assert (given, line.deleted, health.state) == ([["1", "2"]], ["1", "2"], WorkerState.READY)


@virtually
async def test_messages_stay_ours_while_the_work_lasts_and_no_longer() -> None:
    class TimedLine(Line):
        async def receive(self) -> list[Received]:
            received = await super().receive()
            held_from.append(asyncio.get_running_loop().time())
            return received

        async def keep(self, messages: Sequence[Received], seconds: int) -> None:
            held_from.append(asyncio.get_running_loop().time())
            await super().keep(messages, seconds)

    line, held_from = TimedLine("1", "2"), list[float]()

    async def handle(messages: Sequence[Received]) -> Sequence[Received]:
        await asyncio.sleep(5 * KEEP_S)
        held_from.append(asyncio.get_running_loop().time())
        return messages

    with capture_logs() as logs:
        line.down["keep"] = 1  # the first beat fails; that is logged and changes nothing
        async with working(line, handle):
            await line.idle.wait()
            await asyncio.sleep(5 * KEEP_S)
    assert held_from[-1] - held_from[0] == 5 * KEEP_S, "nothing is kept after its work"
    assert max(then - now for now, then in pairwise(held_from)) < KEEP_S / 2, "one beat may fail"
    assert line.kept == [(["1", "2"], KEEP_S)] * (len(held_from) - 2)
    assert line.deleted == ["1", "2"]
    assert [log["event"] for log in logs if log["log_level"] == "warning"] == ["could not keep messages"]


@virtually
async def test_the_work_in_hand_is_finished_when_it_is_time_to_stop() -> None:
    line, begun = Line("1", "2", at_a_time=1), asyncio.Event()

    async def handle(messages: Sequence[Received]) -> Sequence[Received]:
        begun.set()
        await asyncio.sleep(0.05)
        return messages

    async with working(line, handle):
        await begun.wait()
    assert (line.deleted, ids(line.waiting), line.receives) == (["1"], ["2"], 1)


@pytest.mark.parametrize("down", [0, 1], ids=["given back", "not even that"])
@virtually
async def test_work_that_takes_too_long_is_cut_off_and_given_back(down: int) -> None:
    line, begun, cut_off = Line("1", "2"), asyncio.Event(), asyncio.Event()

    async def handle(messages: Sequence[Received]) -> Sequence[Received]:
        begun.set()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            cut_off.set()
            line.down["keep"] = down
            raise
        return messages

    async with working(line, handle):
        await begun.wait()
    assert cut_off.is_set()
    assert (line.deleted, line.kept[-1]) == ([], (["1", "2"], 0))


@virtually
async def test_waiting_for_a_dependency_does_not_hold_up_the_end() -> None:
    line, handling = Line("1"), asyncio.Event()

    async def handle(_: Sequence[Received]) -> Sequence[Received]:
        handling.set()
        raise DATABASE_DOWN

    async with working(line, handle):
        await handling.wait()
    assert (line.deleted, line.kept[-1]) == ([], (["1"], 0))


@virtually
async def test_an_empty_queue_does_not_hold_up_the_end() -> None:
    line = Line()

    async def handle(messages: Sequence[Received]) -> Sequence[Received]:
        return messages

    async with working(line, handle, hands=3):
        await line.idle.wait()
    assert line.deleted == []
    assert asyncio.get_running_loop().time() == 0.0


@virtually
async def test_every_hand_works_on_messages_of_its_own() -> None:
    line, at_work, meeting = Line("1", "2", "3", "4", "5", at_a_time=1), list[str](), asyncio.Event()

    async def handle(messages: Sequence[Received]) -> Sequence[Received]:
        at_work.extend(ids(messages))
        if len(at_work) == 3:
            meeting.set()
        await meeting.wait()
        return messages

    async with working(line, handle, hands=3):
        await meeting.wait()
        assert at_work == ["1", "2", "3"]
        await line.idle.wait()
    assert sorted(line.deleted) == ["1", "2", "3", "4", "5"]


@virtually
async def test_one_hand_that_waits_is_enough_to_be_waiting() -> None:
    """A task that receives nothing must not call the worker ready while another waits for the database."""
    line, health, failures = Line("1", "ping", at_a_time=1), WorkerHealth("awarder"), 0

    async def handle(messages: Sequence[Received]) -> Sequence[Received]:
        nonlocal failures
        if ids(messages) == ["ping"]:
            return messages
        failures += 1
        if failures < 3:
            raise DATABASE_DOWN
        assert health.state is WorkerState.WAITING
        return messages

    with capture_logs() as logs:
        async with working(line, handle, hands=2, health=health):
            while "1" not in line.deleted:
                await asyncio.sleep(0.01)
                if line.idle.is_set():
                    await line.send(["ping"])
    assert [log["event"] for log in logs] == ["worker ready", "worker waits", "worker ready"]


@virtually
async def test_a_mistake_of_ours_in_the_queue_ends_the_worker() -> None:
    class Broken(Line):
        async def receive(self) -> list[Received]:
            raise ZeroDivisionError

    async def handle(messages: Sequence[Received]) -> Sequence[Received]:
        return messages

    with pytest.raises(ExceptionGroup) as failed:
        await QueueConsumer(Broken(), handle, WorkerHealth("awarder")).run(asyncio.Event())
    assert failed.group_contains(ZeroDivisionError)


@virtually
async def test_whoever_is_cut_off_leaves_nothing_running() -> None:
    line, begun, release, ended = Line("1"), asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def handle(messages: Sequence[Received]) -> Sequence[Received]:
        begun.set()
        try:
            await release.wait()
        finally:
            ended.set()
        return messages

    running = asyncio.create_task(QueueConsumer(line, handle, WorkerHealth("awarder")).run(asyncio.Event()))
    await begun.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    went_on = not ended.is_set()
    release.set()
    await ended.wait()
    await asyncio.sleep(0)
    assert not went_on, "the handler outlived its worker"
    assert line.deleted == []


@pytest.mark.parametrize(
    ("messages", "at_a_time", "rests"),
    [
        pytest.param(30, 10, 0, id="full receives follow each other"),
        pytest.param(6, 2, 3, id="each that was not full is followed by a rest"),
    ],
)
@virtually
async def test_a_receive_that_empties_the_queue_is_followed_by_a_rest(
    messages: int, at_a_time: int, rests: int
) -> None:
    line = Line(*map(str, range(messages)), at_a_time=at_a_time)

    async def handle(received: Sequence[Received]) -> Sequence[Received]:
        return received

    async with working(line, handle, hands=3):
        await line.idle.wait()
        assert asyncio.get_running_loop().time() == pytest.approx(rests * REST_S)


@virtually
async def test_what_comes_one_by_one_is_received_together() -> None:
    line, batches, last = Line("0"), list[list[str]](), asyncio.Event()

    async def handle(received: Sequence[Received]) -> Sequence[Received]:
        batches.append(ids(received))
        if len(batches) == 1:
            for body in "123":
                await asyncio.sleep(0)
                await line.send([body])
        if "3" in batches[-1]:
            last.set()
        return received

    async with working(line, handle, hands=2):
        await last.wait()
    assert batches == [["0"], ["1", "2", "3"]]


@virtually
async def test_a_message_that_fails_leaves_its_reason() -> None:
    line, health = Line("1", "2"), WorkerHealth("awarder")

    async def handle(messages: Sequence[Received]) -> Sequence[Received]:
        if any(each.id == "2" for each in messages):
            raise ValueError("no such program\nDETAIL: Key (member_id)=(bob)")
        return messages

    async with working(line, handle, health=health):
        await asyncio.sleep(1)
    failure = health.failures[line.name]
    assert (failure.why, failure.receives) == ("ValueError: no such program", 1)
