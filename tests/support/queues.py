"""A queue of its own on SQS, and messages taken from a queue."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from abacus.platform.sqs.definition import AWARD, QueueDefinition, definitions, ensure_queues
from abacus.platform.sqs.port import Queue, Received
from abacus.platform.sqs.queue import Client, SqsQueue, sqs_client

LONG_S = 600  # no machine is that busy


@asynccontextmanager
async def queue_at(endpoint_url: str, *, visibility_s: int = LONG_S) -> AsyncIterator[SqsQueue]:
    prefix = f"contract-{uuid.uuid4().hex[:8]}-"
    async with sqs_client(endpoint_url) as client:
        await ensure_queues(client, prefix)
        queue = await SqsQueue.find(client, f"{prefix}{AWARD}", wait_s=1)
        await client.set_queue_attributes(QueueUrl=queue.url, Attributes={"VisibilityTimeout": str(visibility_s)})
        yield queue


async def quick_queues(client: Client, prefix: str) -> None:
    """The queues as `ensure_queues` makes them, in a third of the calls. A killed worker's messages come back sooner
    than in production, so that tests need not wait half a minute.
    """
    dead = [each for each in definitions(prefix) if each.dead_letter is None]
    living = [each for each in definitions(prefix) if each.dead_letter is not None]
    made = await asyncio.gather(
        *(client.create_queue(QueueName=each.name, Attributes=each.attributes) for each in dead)
    )
    answer = await client.get_queue_attributes(QueueUrl=made[0]["QueueUrl"], AttributeNames=["QueueArn"])
    place = answer["Attributes"]["QueueArn"].removesuffix(dead[0].name)

    async def make(each: QueueDefinition) -> None:
        redrive = {"deadLetterTargetArn": f"{place}{each.dead_letter}", "maxReceiveCount": each.max_receives}
        own = {"VisibilityTimeout": "4", "RedrivePolicy": json.dumps(redrive)}
        await client.create_queue(QueueName=each.name, Attributes=each.attributes | own)

    await asyncio.gather(*map(make, living))


async def taken(queue: Queue, count: int, *, within_s: float = 60.0) -> list[Received]:
    """Receive so many messages, deleted as they come."""
    messages: list[Received] = []
    async with asyncio.timeout(within_s):
        while len(messages) < count:
            batch = await queue.receive()
            await queue.delete(batch)
            messages += batch
    return messages
