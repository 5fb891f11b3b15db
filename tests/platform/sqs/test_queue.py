"""What `Queue` promises, on every queue there is."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from abacus.core.errors import Unavailable
from abacus.platform.sqs.port import Queue
from abacus.platform.sqs.queue import SqsQueue, sqs_client
from tests.chaos.proxies.sqs import SqsFaults, SqsProxy
from tests.support.memory_queue import MemoryQueue
from tests.support.queues import VISIBILITY_S, queue_at, taken
from tests.support.services import Services


@pytest.fixture
async def sqs_queue(services: Services) -> AsyncIterator[Queue]:
    async with queue_at(services.sqs_endpoint_url) as queue:
        yield queue


@pytest.fixture
async def sqs_queue_by_proxy(services: Services) -> AsyncIterator[Queue]:
    """A proxy that does nothing wrong keeps the contract, so what goes wrong behind another is the fault's doing."""
    async with SqsProxy(services.sqs_endpoint_url, SqsFaults(), seed=1) as proxy, queue_at(proxy.url) as queue:
        yield queue


@pytest.fixture(params=["memory", "sqs_queue", "sqs_queue_by_proxy"])
def queue(request: pytest.FixtureRequest) -> Queue:
    if request.param == "memory":
        return MemoryQueue("award", visibility_s=VISIBILITY_S, wait_s=1)
    found: Queue = request.getfixturevalue(request.param)
    return found


async def test_everything_that_was_sent_comes(queue: Queue) -> None:
    bodies = [f'{{"n":{number},"text":"ünï"}}' for number in range(25)]
    await queue.send(bodies)
    assert sorted(message.body for message in await taken(queue, 25)) == sorted(bodies)
    assert await queue.receive() == []


async def test_a_call_brings_ten_at_most(queue: Queue) -> None:
    await queue.send([str(number) for number in range(30)])
    assert 1 <= len(await queue.receive()) <= 10


async def test_sending_nothing_sends_nothing(queue: Queue) -> None:
    await queue.send([])
    assert await queue.receive() == []


async def test_what_is_not_deleted_comes_again_and_is_counted(queue: Queue) -> None:
    await queue.send(["1"])
    [first] = await queue.receive()
    await asyncio.sleep(VISIBILITY_S)
    [again] = await taken(queue, 1)
    assert (again.id, again.body, first.receives, again.receives) == (first.id, "1", 1, 2)


async def test_what_is_kept_stays_away_from_others(queue: Queue) -> None:
    await queue.send(["1"])
    messages = await queue.receive()
    await queue.keep(messages, 30)
    await asyncio.sleep(VISIBILITY_S)
    assert await queue.receive() == []


async def test_what_is_given_back_comes_at_once(queue: Queue) -> None:
    await queue.send(["1"])
    messages = await queue.receive()
    await queue.keep(messages, 30)
    await queue.keep(messages, 0)
    assert [message.body for message in await taken(queue, 1, within_s=5)] == ["1"]


async def test_a_delayed_message_comes_later(queue: Queue) -> None:
    await queue.send(["later"], delay_s=2)
    await queue.send(["now"])
    [first] = await taken(queue, 1)
    [second] = await taken(queue, 1)
    assert (first.body, second.body) == ("now", "later")


async def test_doing_nothing_with_no_messages_is_fine(queue: Queue) -> None:
    await queue.delete([])
    await queue.keep([], 30)


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
