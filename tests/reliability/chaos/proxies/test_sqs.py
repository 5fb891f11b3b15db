"""Each misfortune of the proxy does what it says, and nothing else."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import NamedTuple

import pytest
from botocore.exceptions import BotoCoreError, ClientError

from abacus.core.errors import Unavailable
from abacus.platform.sqs.port import Received, Unsent
from abacus.platform.sqs.queue import Client, SqsQueue, sqs_client
from tests.reliability.chaos.proxies.listener import Answer, Request, listening
from tests.reliability.chaos.proxies.sqs import SqsFaults, SqsProxy
from tests.support.queues import queue_at, taken
from tests.support.services import Services

LONG_S = 3600.0


class Place(NamedTuple):
    """A queue, as it is and by way of a proxy."""

    proxy: SqsProxy
    direct: SqsQueue
    queue: SqsQueue
    client: Client


Opens = Callable[..., AbstractAsyncContextManager[Place]]


@pytest.fixture
def place(services: Services) -> Opens:
    @asynccontextmanager
    async def opens(*, soon_s: float = 0.05, late_after_s: float = 0.1) -> AsyncIterator[Place]:
        async with (
            queue_at(services.sqs_endpoint_url) as direct,
            SqsProxy(services.sqs_endpoint_url, SqsFaults(), 7, soon_s=soon_s, late_after_s=late_after_s) as proxy,
            sqs_client(proxy.url) as client,
        ):
            yield Place(proxy, direct, await SqsQueue.find(client, direct.name, wait_s=1), client)

    return opens


async def in_hand(queue: SqsQueue, count: int) -> list[Received]:
    messages: list[Received] = []
    while len(messages) < count:
        messages += await queue.receive()
    return messages


async def left(queue: SqsQueue) -> list[str]:
    """The bodies of all messages that are in the queue and in nobody's hands; deleted as they come."""
    bodies: list[str] = []
    while messages := await queue.receive():
        await queue.delete(messages)
        bodies += [message.body for message in messages]
    return bodies


async def test_addresses_lead_through_the_proxy(place: Opens) -> None:
    async with place() as (proxy, direct, queue, client):
        listed = (await client.list_queues(QueueNamePrefix=direct.name))["QueueUrls"]
        made = (await client.create_queue(QueueName=direct.name))["QueueUrl"]
    assert {queue.url, made, *listed} == {f"{proxy.url}/{direct.url.split('/', 3)[3]}", f"{queue.url}-dlq"}


async def test_a_duplicate_comes_soon_and_can_be_deleted_twice(place: Opens) -> None:
    async with place() as (proxy, direct, queue, _):
        proxy.faults = SqsFaults(duplicate=1.0)
        await queue.send(list("abcde"))
        messages = await taken(queue, 10)
        assert Counter(message.body for message in messages) == Counter("aabbccddee")
        assert Counter(message.receives for message in messages) == {1: 5, 2: 5}
        assert proxy.struck == {"duplicate": 5}
        assert (proxy.held, await direct.holds()) == (0, 0)


@pytest.mark.long
async def test_a_late_duplicate_comes_after_the_message_was_deleted(place: Opens) -> None:
    async with place(late_after_s=1.5) as (proxy, direct, queue, _):
        proxy.faults = SqsFaults(late_duplicate=1.0)
        await queue.send(["a"])
        [first] = await taken(queue, 1)
        proxy.faults = SqsFaults()
        assert (proxy.held, await direct.holds(), proxy.struck) == (1, 0, {})
        [late] = await taken(queue, 1)
        await queue.keep([late], 30)
        await queue.delete([late])
        assert (late.id, late.body, late.receives) == (first.id, "a", 2)
        assert (proxy.held, proxy.struck) == (0, {"late_duplicate": 1})
        assert await queue.receive() == []


async def test_what_is_reordered_comes_after_what_was_sent_later(place: Opens) -> None:
    async with place(soon_s=LONG_S) as (proxy, _, queue, _):
        proxy.faults = SqsFaults(reorder=1.0)
        await queue.send(["first"])
        while proxy.held == 0:
            assert await queue.receive() == []
        proxy.faults = SqsFaults()
        await queue.send([str(number) for number in range(20)])
        bodies = [message.body for message in await taken(queue, 21)]
        assert bodies[0] != "first"
        assert sorted(bodies) == sorted(["first", *map(str, range(20))])
        assert proxy.struck == {"reorder": 1}


async def test_what_nothing_overtakes_comes_all_the_same(place: Opens) -> None:
    async with place() as (proxy, _, queue, _):
        proxy.faults = SqsFaults(reorder=1.0)
        await queue.send(["alone"])
        assert [message.body for message in await taken(queue, 1)] == ["alone"]
        assert proxy.struck == {}


@pytest.mark.long
async def test_a_dropped_delete_is_done_and_denied_or_confirmed_and_not_done(place: Opens) -> None:
    async with place() as (proxy, direct, queue, _):
        bodies = {str(number) for number in range(40)}
        await queue.send(sorted(bodies))
        messages = await in_hand(queue, 40)
        proxy.faults = SqsFaults(drop_delete=1.0)
        outcomes = await asyncio.gather(*(queue.delete([message]) for message in messages), return_exceptions=True)
        confirmed = {message.body for message, outcome in zip(messages, outcomes, strict=True) if outcome is None}
        proxy.faults = SqsFaults()
        for message in messages:
            await direct.keep([message], 0)
        again = set(await left(direct))
        assert again & confirmed
        assert bodies - again - confirmed
        assert proxy.struck["drop_delete"] >= 40


@pytest.mark.long
async def test_throttled_is_not_carried_out(place: Opens) -> None:
    async with place() as (proxy, direct, queue, client):
        proxy.faults = SqsFaults(throttle=1.0)
        with pytest.raises(Unsent):
            await queue.send(["a"])
        calls = (client.receive_message(QueueUrl=queue.url) for _ in range(20))
        refusals = await asyncio.gather(*calls, return_exceptions=True)
        codes = {error.response["Error"]["Code"] for error in refusals if isinstance(error, ClientError)}
        assert codes == {"RequestThrottled", "ServiceUnavailable"}
        assert await direct.holds() == 0
        assert set(proxy.struck) == {"throttle"}


@pytest.mark.long
async def test_a_part_of_a_batch_is_not_sent_and_says_so(place: Opens) -> None:
    async with place() as (proxy, direct, queue, _):
        proxy.faults = SqsFaults(partial=1.0)
        bodies = [str(number) for number in range(10)]
        with pytest.raises(Unsent, match="InternalError") as unsent:
            await queue.send(bodies)
        assert 0 < len(unsent.value.remaining) < 10
        arrived = await left(direct)
        assert sorted(arrived + unsent.value.remaining) == bodies


async def test_a_part_of_a_batch_is_not_deleted_and_says_so(place: Opens) -> None:
    async with place() as (proxy, direct, queue, _):
        await queue.send([str(number) for number in range(10)])
        messages = await in_hand(queue, 10)
        proxy.faults = SqsFaults(partial=1.0)
        with pytest.raises(Unavailable, match="messages could not be deleted"):
            await queue.delete(messages)
        await direct.keep(messages, 0)
        again = await left(direct)
        assert 0 < len(again) < 10
        assert proxy.struck == {"partial": 3}


@pytest.mark.long
async def test_without_an_answer_it_may_have_happened_or_not(place: Opens) -> None:
    async with place() as (proxy, direct, queue, client):
        proxy.faults = SqsFaults(timeout=1.0)
        bodies = {str(number) for number in range(150)}  # each is tried three times, so that one in eight never arrives
        calls = (client.send_message(QueueUrl=queue.url, MessageBody=body) for body in bodies)
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(outcome, BotoCoreError) for outcome in outcomes)
        proxy.faults = SqsFaults()
        arrived = set(await left(direct))
        assert arrived
        assert bodies - arrived


@pytest.mark.long
async def test_a_service_in_trouble_is_unavailable_whatever_it_says() -> None:
    async def overloaded(_: Request) -> Answer:
        return Answer(503, {"content-type": "text/plain"}, b"The server was not able to produce a timely response.")

    async with (
        listening(overloaded) as upstream,
        SqsProxy(upstream, SqsFaults(), 1) as proxy,
        sqs_client(proxy.url) as client,
    ):
        with pytest.raises(Unavailable, match="503"):
            await SqsQueue.find(client, "any")


async def test_a_service_that_is_away_is_unavailable() -> None:
    async with SqsProxy("http://127.0.0.1:1", SqsFaults(), 1) as proxy, sqs_client(proxy.url) as client:
        with pytest.raises(Unavailable):
            await SqsQueue.find(client, "any")
