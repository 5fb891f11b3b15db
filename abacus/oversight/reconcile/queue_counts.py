"""The number of messages on the queues. Counting takes nothing out of them."""

from abacus.oversight.reconcile.decide.verdict import Queues
from abacus.platform.sqs.dead_letters import dead_letters
from abacus.platform.sqs.definition import AWARD, EXPIRY, RETRY
from abacus.platform.sqs.queue import Client, SqsQueue


async def count_queues(client: Client, prefix: str) -> Queues:
    """In the order that `Queues` prescribes. Raises `Unavailable`."""
    retry = await (await SqsQueue.find(client, prefix + RETRY)).holds()
    award = await (await SqsQueue.find(client, prefix + AWARD)).holds()
    expiry = f"{prefix}{EXPIRY}-dlq"
    dead = sum(each.messages for each in await dead_letters(client, prefix) if each.queue != expiry)
    return Queues(retry, award, dead)
