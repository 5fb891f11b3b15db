"""The queue behaves like SQS where Abacus relies on it, also with several clients at once."""

import asyncio
import json
import re
import time
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aioboto3
import pytest

from abacus.platform.embedded.stack import EmbeddedSqs

_LONGEST_POLL_S = 20
_VISIBILITY_S = 1


@pytest.fixture(scope="module")
async def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sqs") / "sqs.log"


@pytest.fixture(scope="module")
async def client(log: Path) -> AsyncIterator[Any]:
    sqs = EmbeddedSqs(log)
    session = aioboto3.Session(aws_access_key_id="any", aws_secret_access_key="any", region_name="us-east-1")
    try:
        async with session.client("sqs", endpoint_url=await sqs.start()) as made:
            yield made
    finally:
        await sqs.stop()


async def _queue(client: Any, name: str, **attributes: str) -> str:
    made = await client.create_queue(QueueName=name, Attributes=attributes)
    return str(made["QueueUrl"])


async def _receive(client: Any, url: str, wait_seconds: int = 0) -> list[dict[str, Any]]:
    answer = await client.receive_message(
        QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=wait_seconds, AttributeNames=["ApproximateReceiveCount"]
    )
    return list(answer.get("Messages", []))


def test_every_repair_fits_the_installed_moto(client: Any, log: Path) -> None:
    assert not log.read_text()


async def test_requests_share_a_connection(client: Any) -> None:
    """Also after a request that is refused."""
    address = urlsplit(client.meta.endpoint_url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        for action, status in (("ListQueues", 200), ("GetQueueUrl", 400), ("ListQueues", 200)):
            body = json.dumps({"QueueName": "none"} if action == "GetQueueUrl" else {})
            writer.write(
                "POST / HTTP/1.1\r\nHost: sqs.us-east-1.amazonaws.com\r\nContent-Type: application/x-amz-json-1.0\r\n"
                f"X-Amz-Target: AmazonSQS.{action}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
            )
            async with asyncio.timeout(30):
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                (length,) = re.findall(r"(?i)content-length: (\d+)", head)
                await reader.readexactly(int(length))
            assert head.startswith(f"HTTP/1.1 {status}")
    finally:
        writer.close()
        await writer.wait_closed()


async def test_a_long_poll_is_answered_when_the_message_comes(client: Any) -> None:
    """A busy machine answers later, but no machine answers before the poll ends if nothing wakes the poll."""
    url = await _queue(client, "poll")
    for _ in range(3):
        began = time.monotonic()
        waiting = asyncio.create_task(_receive(client, url, wait_seconds=_LONGEST_POLL_S))
        await asyncio.sleep(0.3)
        await client.send_message(QueueUrl=url, MessageBody="now")
        (message,) = await waiting
        assert time.monotonic() - began < _LONGEST_POLL_S
        await client.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])


async def test_a_delayed_message_comes_later(client: Any) -> None:
    url = await _queue(client, "delay")
    await client.send_message(QueueUrl=url, MessageBody="in a quarter of an hour", DelaySeconds=900)
    sent = time.time()
    await client.send_message(QueueUrl=url, MessageBody="soon", DelaySeconds=1)
    (message,) = await _receive(client, url, wait_seconds=_LONGEST_POLL_S)
    assert message["Body"] == "soon"
    assert time.time() >= sent + 1
    with pytest.raises(client.exceptions.ClientError, match="DelaySeconds must be"):
        await client.send_message(QueueUrl=url, MessageBody="too late", DelaySeconds=901)


async def test_visibility_can_be_prolonged_and_given_up(client: Any) -> None:
    url, handle = await _prolonged_in_time(client)
    await asyncio.sleep(_VISIBILITY_S)
    assert await _receive(client, url) == []
    await client.change_message_visibility(QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=0)
    (again,) = await _receive(client, url, wait_seconds=_LONGEST_POLL_S)
    assert again["Attributes"]["ApproximateReceiveCount"] == "2"


async def _prolonged_in_time(client: Any) -> tuple[str, str]:
    """A queue and the handle of its only message, which was received for `_VISIBILITY_S` and prolonged before these
    were over. On a busy machine the first try may be too late, which says nothing about the queue.
    """
    for _ in range(10):
        url = await _queue(client, f"visibility-{uuid.uuid4().hex}", VisibilityTimeout=str(_VISIBILITY_S))
        await client.send_message(QueueUrl=url, MessageBody="mine")
        before = time.monotonic()
        (message,) = await _receive(client, url)
        handle: str = message["ReceiptHandle"]
        await client.change_message_visibility(QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=600)
        if time.monotonic() - before < _VISIBILITY_S:
            return url, handle
    pytest.fail(f"two calls never took less than {_VISIBILITY_S} s")


async def test_a_message_received_too_often_is_redriven(client: Any) -> None:
    dead = await _queue(client, "work-dlq")
    arn = (await client.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"]))["Attributes"]["QueueArn"]
    policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 2})
    url = await _queue(client, "work", RedrivePolicy=policy, VisibilityTimeout="0")
    await client.send_message(QueueUrl=url, MessageBody="poison")
    for _ in range(2):
        assert len(await _receive(client, url)) == 1
    assert await _receive(client, url) == []
    (message,) = await _receive(client, dead)
    assert message["Body"] == "poison"


async def test_attributes_are_each_queue_s_own(client: Any) -> None:
    url = await _queue(client, "own", VisibilityTimeout="45", MessageRetentionPeriod="1209600")
    await client.send_message(QueueUrl=url, MessageBody="waiting")
    await client.send_message(QueueUrl=url, MessageBody="delayed", DelaySeconds=60)
    attributes = (await client.get_queue_attributes(QueueUrl=url, AttributeNames=["All"]))["Attributes"]
    assert {
        name: attributes[name]
        for name in (
            "VisibilityTimeout",
            "MessageRetentionPeriod",
            "ApproximateNumberOfMessages",
            "ApproximateNumberOfMessagesDelayed",
        )
    } == {
        "VisibilityTimeout": "45",
        "MessageRetentionPeriod": "1209600",
        "ApproximateNumberOfMessages": "1",
        "ApproximateNumberOfMessagesDelayed": "1",
    }


@pytest.mark.long
async def test_nothing_is_lost_or_doubled_between_many_clients(client: Any) -> None:
    url = await _queue(client, "crowd", VisibilityTimeout="600")
    sent = {f"{sender}-{batch}-{n}" for sender in range(4) for batch in range(12) for n in range(10)}
    received: list[str] = []

    async def send(sender: int) -> None:
        for batch in range(12):
            entries = [{"Id": str(n), "MessageBody": f"{sender}-{batch}-{n}"} for n in range(10)]
            await client.send_message_batch(QueueUrl=url, Entries=entries)

    async def receive() -> None:
        while len(received) < len(sent):
            messages = await _receive(client, url, wait_seconds=1)
            received.extend(message["Body"] for message in messages)
            if messages:
                entries = [{"Id": str(n), "ReceiptHandle": m["ReceiptHandle"]} for n, m in enumerate(messages)]
                await client.delete_message_batch(QueueUrl=url, Entries=entries)

    async with asyncio.timeout(60):
        await asyncio.gather(*(send(sender) for sender in range(4)), *(receive() for _ in range(4)))
    assert sorted(received) == sorted(sent)
    answer = await client.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])
    assert answer["Attributes"]["ApproximateNumberOfMessagesNotVisible"] == "0"


@pytest.mark.long
async def test_a_deep_queue_stays_quick(client: Any) -> None:
    url = await _queue(client, "deep", VisibilityTimeout="600")
    entries = [{"Id": str(n), "MessageBody": "x" * 24_000} for n in range(10)]
    began = time.monotonic()
    for _ in range(45):
        await client.send_message_batch(QueueUrl=url, Entries=entries)
    for _ in range(45):
        messages = await _receive(client, url)
        assert len(messages) == 10
        handles = [{"Id": str(n), "ReceiptHandle": m["ReceiptHandle"]} for n, m in enumerate(messages)]
        await client.delete_message_batch(QueueUrl=url, Entries=handles)
    assert time.monotonic() - began < 15  # 2 s measured with the repairs, 34 s without
