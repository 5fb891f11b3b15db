"""The promises of `Queue`, on every queue there is."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from abacus.core.errors import Unavailable
from abacus.platform.sqs.port import Queue
from abacus.platform.sqs.queue import SqsQueue, sqs_client
from tests.reliability.chaos.proxies.sqs import SqsFaults, SqsProxy
from tests.support.memory_queue import MemoryQueue
from tests.support.queues import LONG_S, queue_at, taken
from tests.support.services import Services

SHORT_S = 1
CLOCKS_DIFFER_BY_S = 0.01  # the queue's and ours

# Makes a queue that hides a message for so many seconds from others after one has received it.
Opens = Callable[[int], AbstractAsyncContextManager[Queue]]


@pytest.fixture
def sqs_queue(services: Services) -> Opens:
    return lambda visibility_s: queue_at(services.sqs_endpoint_url, visibility_s=visibility_s)


@pytest.fixture
def sqs_queue_by_proxy(services: Services) -> Opens:
    """A proxy without faults keeps the contract, so a failure behind one with faults is the fault's doing."""

    @asynccontextmanager
    async def opens(visibility_s: int) -> AsyncIterator[Queue]:
        async with (
            SqsProxy(services.sqs_endpoint_url, SqsFaults(), seed=1) as proxy,
            queue_at(proxy.url, visibility_s=visibility_s) as queue,
        ):
            yield queue

    return opens


@asynccontextmanager
async def in_memory(visibility_s: int) -> AsyncIterator[Queue]:
    yield MemoryQueue("award", visibility_s=visibility_s, wait_s=1)


@pytest.fixture(params=["memory", "sqs_queue", "sqs_queue_by_proxy"])
def opens(request: pytest.FixtureRequest) -> Opens:
    if request.param == "memory":
        return in_memory
    opens: Opens = request.getfixturevalue(request.param)
    return opens


@pytest.fixture
async def queue(opens: Opens) -> AsyncIterator[Queue]:
    async with opens(LONG_S) as queue:
        yield queue


@pytest.mark.long
async def test_everything_that_was_sent_comes(queue: Queue) -> None:
    bodies = [f'{{"n":{number},"text":"ünï"}}' for number in range(25)]
    await queue.send(bodies)
    assert sorted(message.body for message in await taken(queue, 25)) == sorted(bodies)
    assert await queue.receive() == []


async def test_a_call_brings_ten_at_most(queue: Queue) -> None:
    await queue.send([str(number) for number in range(30)])
    assert 1 <= len(await queue.receive()) <= 10


@pytest.mark.long
async def test_sending_nothing_sends_nothing(queue: Queue) -> None:
    await queue.send([])
    assert await queue.receive() == []


@pytest.mark.long
async def test_what_is_not_deleted_comes_again_and_is_counted(opens: Opens) -> None:
    async with opens(SHORT_S) as queue:
        await queue.send(["1"])
        [first] = await queue.receive()
        [again] = await taken(queue, 1)
    assert (again.id, again.body, first.receives, again.receives) == (first.id, "1", 1, 2)


@pytest.mark.long
async def test_what_is_kept_stays_away_from_others(opens: Opens) -> None:
    """A message that is kept in time: a busy machine may be late, and then tries again."""
    async with opens(SHORT_S) as queue:
        for _ in range(10):
            await queue.send(["1"])
            before = asyncio.get_running_loop().time()
            messages = await queue.receive()
            await queue.keep(messages, LONG_S)
            if asyncio.get_running_loop().time() - before < SHORT_S:
                break
            await queue.delete(messages)
        else:
            pytest.fail(f"two calls never took less than {SHORT_S} s")
        await asyncio.sleep(SHORT_S)
        assert await queue.receive() == []


async def test_what_is_given_back_comes_at_once(queue: Queue) -> None:
    await queue.send(["1"])
    messages = await queue.receive()
    await queue.keep(messages, 30)
    await queue.keep(messages, 0)
    assert [message.body for message in await taken(queue, 1, within_s=20)] == ["1"]


@pytest.mark.long
async def test_a_delayed_message_comes_later(queue: Queue) -> None:
    sent = time.time()
    await queue.send(["later"], delay_s=1)
    await queue.send(["now"])
    came: dict[str, float] = {}
    while len(came) < 2:
        for message in await taken(queue, 1):
            came[message.body] = time.time()
    assert came["later"] >= sent + 1 - CLOCKS_DIFFER_BY_S


async def test_calls_without_messages_leave_the_others_alone(queue: Queue) -> None:
    await queue.send(["1"])
    await queue.delete([])
    await queue.keep([], 30)
    assert [message.body for message in await taken(queue, 1)] == ["1"]


async def test_deleting_twice_is_no_mistake(queue: Queue) -> None:
    await queue.send(["1"])
    messages = await queue.receive()
    await queue.delete(messages)
    await queue.delete(messages)
    assert await queue.receive() == []


async def test_a_queue_that_does_not_exist_is_unavailable(services: Services) -> None:
    async with sqs_client(services.sqs_endpoint_url) as client:
        with pytest.raises(Unavailable, match="run `abacus queues ensure`"):
            await SqsQueue.find(client, "nobodys-award")
