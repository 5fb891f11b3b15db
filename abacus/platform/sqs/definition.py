"""Reads the definitions of the queues in `localstack/queues.json`, the only ones there are, and makes the queues."""

import json
from collections.abc import Iterator
from typing import Final, NamedTuple

from abacus.platform.packaged import packaged_file
from abacus.platform.sqs.queue import Client, reachable

AWARD: Final = "award"
RETRY: Final = "retry"
EXPIRY: Final = "expiry"
CAMPAIGN_RETRY: Final = "campaign-retry"


class QueueDefinition(NamedTuple):
    """A queue, and the queue for messages that keep failing."""

    name: str
    attributes: dict[str, str]
    dead_letter: str | None
    max_receives: int


def definitions(prefix: str) -> Iterator[QueueDefinition]:
    """Every queue, each dead-letter queue before the queue that names it."""
    document = json.loads(packaged_file("queues.json").read_text(encoding="utf-8"))
    for queue in document["queues"]:
        dead = queue["dead_letter"]
        yield QueueDefinition(prefix + dead["name"], dead["attributes"], None, 0)
        yield QueueDefinition(
            prefix + queue["name"], queue["attributes"], prefix + dead["name"], dead["max_receive_count"]
        )


async def ensure_queues(client: Client, prefix: str) -> list[str]:
    """Make the queues that are missing and bring the attributes of the others in line. Raises `Unavailable`."""
    names: list[str] = []
    arns: dict[str, str] = {}
    for queue in definitions(prefix):
        attributes = dict(queue.attributes)
        if queue.dead_letter is not None:
            attributes["RedrivePolicy"] = json.dumps(
                {"deadLetterTargetArn": arns[queue.dead_letter], "maxReceiveCount": queue.max_receives}
            )
        with reachable():
            # Created bare and then set: creating an existing queue with other attributes would be an error.
            url = (await client.create_queue(QueueName=queue.name))["QueueUrl"]
            await client.set_queue_attributes(QueueUrl=url, Attributes=attributes)
            if queue.dead_letter is None:
                answer = await client.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
                arns[queue.name] = answer["Attributes"]["QueueArn"]
        names.append(queue.name)
    return names
